import CHTTPClient
import HTTPCore

extension HTTPError {
    /// What a failure of TLS means for a person; nil for one that has nothing to do with it.
    ///
    /// OpenSSL's reasons stand in libcurl's words only: "error:0A00010B:SSL routines::wrong version number".
    static func tls(_ code: CURLcode, _ words: String, server: String) -> (kind: Kind, message: String)? {
        switch code {
        case CURLE_SSL_CERTPROBLEM:
            return (
                .invalid,
                "your certificate cannot be used: it or its key is damaged or no PEM, the key belongs to another, or its "
                    + "passphrase is wrong; check the files in auth.certificate (\(words))"
            )
        case CURLE_SSL_CACERT_BADFILE:
            return (
                .invalid, "the file with trusted authorities holds no certificate in PEM: choose another (\(words))"
            )
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CLIENTCERT, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR:
            return (.tls, "no secure connection to \(server): \(meaning(of: words) ?? words)")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            // With TLS 1.3 a server judges our certificate when the handshake is over for us.
            guard words.contains(" alert "), let meaning = meaning(of: words) else { return nil }
            return (.tls, "no secure connection to \(server): \(meaning)")
        default: return nil
        }
    }

    private static func meaning(of words: String) -> String? {
        meanings.first { $0.reasons.contains { words.contains($0) } }?.words
    }

    private static let meanings: [(reasons: [String], words: String)] = [
        (
            ["wrong version number", "http request", "packet length too long", "record layer failure"],
            "what answers there does not speak TLS; it may speak http: check the URL"
        ),
        (
            ["unsupported protocol", "alert protocol version", "legacy sigalg", "no protocols available"],
            "its version of TLS is too old; at least 1.2 is needed"
        ),
        (
            ["alert certificate required"],
            "it wants a certificate of yours: name one in the setting auth.certificate"
        ),
        (
            [
                "alert bad certificate", "alert certificate unknown", "alert unknown ca", "alert certificate expired",
                "alert certificate revoked", "alert unsupported certificate", "alert access denied",
            ], "it refuses your certificate, or that there is none: check the setting auth.certificate"
        ),
        (
            ["alert handshake failure"],
            "it ended the handshake; if it wants a certificate of yours, name one in the setting auth.certificate"
        ),
        (["dh key too small", "ee key too small", "no shared cipher"], "its keys or ciphers are too weak"),
    ]
}
