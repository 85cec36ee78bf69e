import CHTTPClient
import Capabilities
import Cryptography
import Glibc
public import HTTPCore
import JSON

extension HTTPError {
    /// Translates a libcurl code, together with how far the transfer got, into a message for a person.
    init(_ code: CURLcode, of job: Job) {
        let server = job.plan.url.server
        let words = job.easy.description(of: code)
        if let (kind, message) = Self.tls(code, words, server: server) {
            self.init(kind, message, mayHaveBeenSent: job.mayHaveBeenSent, server: server)
            return
        }
        let (kind, message): (Kind, String)
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            (kind, message) = (
                .nameNotFound,
                "cannot resolve \(job.plan.url.host): check the name and the network"
            )
        case CURLE_COULDNT_CONNECT:
            (kind, message) = Self.unconnected(job)
        case CURLE_OPERATION_TIMEDOUT:
            self.init(timedOut: .connectTimedOut, job)
            return
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            // libcurl's message is left out because it quotes the proxy's address with its password.
            (kind, message) = (.proxy, "cannot reach the proxy for \(server): check its address and the network")
        case _ where Self.proxyRefused(job):
            (kind, message) = (
                .proxy,
                "the proxy refused the connection to \(server) with status \(job.easy.int(CURLINFO_HTTP_CONNECTCODE)): "
                    + "check its address, user and password"
            )
        case CURLE_PEER_FAILED_VERIFICATION:
            self = Self.refusedCertificate(job, words)
            return
        case CURLE_GOT_NOTHING:
            (kind, message) = (.cut, "\(server) closed the connection without a response")
        case CURLE_PARTIAL_FILE:
            (kind, message) = (
                .cut, "the response from \(server) ended early, after \(ByteCount(job.received).words) of its body"
            )
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            // OpenSSL reports a missing close_notify as a read error; only libcurl's message contains the system's
            // error number.
            (kind, message) =
                job.clock.phase == .receiving && !words.contains("reset by peer")
                ? (.cut, "the response from \(server) ended early, after \(ByteCount(job.received).words) of its body")
                : (.reset, "the connection to \(server) broke: \(words)")
        case CURLE_HTTP2, CURLE_HTTP2_STREAM:
            (kind, message) = (.reset, "\(server) ended the request: \(words)")
        case CURLE_OUT_OF_MEMORY where job.head.isComplete, CURLE_WRITE_ERROR where job.head.isComplete:
            (kind, message) = (
                .tooLarge, "the response from \(server) is too large after decompression; request it uncompressed"
            )
        case CURLE_OUT_OF_MEMORY, CURLE_TOO_MANY_REDIRECTS:
            (kind, message) = (.headTooLarge, "\(server) sent a header line that is too long")
        case CURLE_SEND_FAIL_REWIND:
            (kind, message) = (
                .reset, "the connection to \(server) broke, and the body is a stream that cannot be sent again"
            )
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
            CURLE_HTTP_RETURNED_ERROR:
            (kind, message) = (
                .badAnswer, "\(server) did not send a valid HTTP response (\(words)); check host and port"
            )
        default:
            (kind, message) = (
                job.mayHaveBeenSent ? .badAnswer : .unreachable, "the request to \(server) failed: \(words)"
            )
        }
        self.init(
            kind, message, status: job.head.isComplete ? job.head.status : nil, mayHaveBeenSent: job.mayHaveBeenSent,
            server: server)
    }

    /// The connection ended early, although libcurl treats that as the end of the response.
    init(cut job: Job) {
        let server = job.plan.url.server
        let message =
            job.head.isComplete
            ? "the response from \(server) ended early, after \(ByteCount(job.received).words) of its body: the "
                + "connection was cut"
            : "\(server) closed the connection before the head of its response was complete"
        self.init(.cut, message, status: job.head.isComplete ? job.head.status : nil, server: server)
    }

    /// A time limit was exceeded.
    init(timedOut kind: Kind, _ job: Job) {
        let server = job.plan.url.server
        let limits = job.plan.limits
        func words(_ nanoseconds: Int64?) -> String { Duration.nanoseconds(nanoseconds ?? 0).words }
        let message =
            switch kind {
            case .connectTimedOut:
                "no connection to \(server) within \(words(limits.connect)): check host, port and network"
            case .firstByteTimedOut:
                "\(server) received the request but did not start to respond within \(words(limits.firstByte))"
            case .idleTimedOut:
                job.clock.phase == .sending
                    ? "\(server) accepted no more of the request for \(words(limits.idle))"
                    : "\(server) sent nothing for \(words(limits.idle)) in the middle of its response"
            default:
                "the response from \(server) was not complete within \(words(limits.total))"
            }
        self.init(
            kind, message, status: job.head.isComplete ? job.head.status : nil, mayHaveBeenSent: job.mayHaveBeenSent,
            server: server)
    }

    private static func unconnected(_ job: Job) -> (Kind, String) {
        let server = job.plan.url.server
        if let path = job.plan.unixSocket {
            return (
                .refused,
                "cannot connect to the socket \(path): check that the server is running and that you may use the socket"
            )
        }
        // In this version, only the hosts named in libcurl's message tell whether it tried the proxy.
        let words = job.easy.description(of: CURLE_COULDNT_CONNECT)
        if job.hasProxy, !words.contains("to \(job.plan.url.host) port \(job.plan.url.port) ") {
            return (.proxy, "cannot connect to the proxy for \(server): check its address and that it is running")
        }
        switch Int32(job.easy.int(CURLINFO_OS_ERRNO)) {
        case ECONNREFUSED:
            return (
                .refused,
                "cannot connect to \(server): nothing is listening there; check the port and that the server is running"
            )
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN:
            return (.unreachable, "cannot connect to \(server): no route to the host; check the network")
        case ETIMEDOUT:
            return (
                .connectTimedOut, "cannot connect to \(server): it does not respond; check the address and the network"
            )
        default:
            return (.unreachable, "cannot connect to \(server): \(words)")
        }
    }

    private static func proxyRefused(_ job: Job) -> Bool {
        let status = job.easy.int(CURLINFO_HTTP_CONNECTCODE)
        return !job.mayHaveBeenSent && status != 0 && !(200..<300).contains(status)
    }

    private static func refusedCertificate(_ job: Job, _ words: String) -> HTTPError {
        let server = job.plan.url.server
        switch job.verification?.outcome {
        case .refused(let certificate, let reason):
            return HTTPError(
                .certificate, reason, certificate: certificate, mayHaveBeenSent: false, server: server)
        case .unreadable(let error):
            return HTTPError(
                .certificate, "the certificate of \(server) cannot be read: \(error.message)", mayHaveBeenSent: false,
                server: server, cause: error)
        case .accepted, nil:
            return HTTPError(
                .proxy, "the certificate of the proxy for \(server) was rejected: \(words)",
                mayHaveBeenSent: false,
                server: server)
        }
    }
}

extension HTTPError {
    /// Explains a TLS failure; nil if the failure has nothing to do with TLS.
    ///
    /// OpenSSL's reasons appear only in libcurl's message: "error:0A00010B:SSL routines::wrong version number".
    static func tls(_ code: CURLcode, _ words: String, server: String) -> (kind: Kind, message: String)? {
        switch code {
        case CURLE_SSL_CERTPROBLEM:
            return (
                .invalid,
                "your certificate cannot be used: the certificate or its key is damaged or not PEM, the key belongs to "
                    + "another certificate, or its passphrase is wrong; check the files in auth.certificate (\(words))"
            )
        case CURLE_SSL_CACERT_BADFILE:
            return (
                .invalid,
                "the file with trusted authorities contains no PEM certificate; choose another file (\(words))"
            )
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CLIENTCERT, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR:
            return (.tls, "no secure connection to \(server): \(meaning(of: words) ?? words)")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            // With TLS 1.3 the server checks the client certificate after the client's handshake is complete.
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
            "the server does not use TLS; it may use http: check the URL"
        ),
        (
            ["unsupported protocol", "alert protocol version", "legacy sigalg", "no protocols available"],
            "its version of TLS is too old; at least 1.2 is needed"
        ),
        (
            ["alert certificate required"],
            "it requires a client certificate: set one in auth.certificate"
        ),
        (
            [
                "alert bad certificate", "alert certificate unknown", "alert unknown ca", "alert certificate expired",
                "alert certificate revoked", "alert unsupported certificate", "alert access denied",
            ], "it rejects your client certificate, or requires one: check the setting auth.certificate"
        ),
        (
            ["alert handshake failure"],
            "it ended the handshake; if it requires a client certificate, set one in auth.certificate"
        ),
        (["dh key too small", "ee key too small", "no shared cipher"], "its keys or ciphers are too weak"),
    ]
}

extension HTTPError {
    /// A response whose status means failure, with the server's message.
    public init(status: HTTPStatus, headers: HTTPHeaders, body: [UInt8], server: String) {
        var message = "\(server) answered \(status)"
        if let words = Self.words(in: body, headers) { message += ": \(words)" }
        self.init(
            .status, message, status: status,
            retryAfter: RetryAfter(headers, now: .now())?.duration, server: server)
    }

    /// The message from one of the usual error shapes: `{"error": {"message"}}`, `{"error"}`, `{"message"}`,
    /// `{"detail"}`; or a short plain text.
    private static func words(in body: [UInt8], _ headers: HTTPHeaders) -> String? {
        guard !body.isEmpty, body.count <= 1 << 20 else { return nil }
        var text: String?
        // A body that is not JSON may still be a plain sentence, so a parse error is ignored.
        if let json = try? JSON(parsing: body) {
            let error = json["error"]
            text =
                error?["message"]?.string ?? error?.string ?? json["message"]?.string ?? json["detail"]?.string
                ?? json["detail"]?[0]?["msg"]?.string ?? json["error_description"]?.string
        } else if headers["Content-Type"]?.lowercased().hasPrefix("text/plain") ?? false {
            text = String(decoding: body.prefix(2000), as: UTF8.self)
        }
        guard let text else { return nil }
        let line = text.split { $0.isNewline || $0 == "\t" || $0 == " " }.joined(separator: " ")
        guard !line.isEmpty else { return nil }
        return PlainText.escape(line, limit: 500)
    }
}
