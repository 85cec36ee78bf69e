import COpenSSL
import Glibc

extension CryptographyError {
    /// A failure of the socket under TLS; 0 when it just ended.
    static func connection(errno number: Int32) -> CryptographyError {
        guard number != 0 else { return .cut }
        // strerror is safe here: glibc keeps its text in thread-local storage.
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "system error \(number)"
        return CryptographyError(.connection, "the connection failed: \(reason)")
    }

    static var cut: CryptographyError {
        CryptographyError(.truncated, "the connection was cut before the peer said that it had sent everything")
    }

    /// An error of libssl; `verdict` is what verification of the peer's certificate came to.
    static func tls(reason: Int32, words: String, verdict: Int) -> CryptographyError {
        switch reason {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: .cut
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST:
            CryptographyError(.notTLS, "the peer speaks plain HTTP where TLS is spoken; use https in its address")
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_UNKNOWN_PROTOCOL:
            CryptographyError(.notTLS, "the peer does not speak TLS")
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            CryptographyError(.untrusted, "the peer's certificate was refused: \(DefectList.words(Int32(verdict)))")
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            CryptographyError(.untrusted, "the peer showed no certificate, but it must")
        default: CryptographyError(.handshake, "the TLS connection failed: \(words)")
        }
    }
}
