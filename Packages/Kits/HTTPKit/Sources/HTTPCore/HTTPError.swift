public import Capabilities
public import JSON

/// Why a request, a stream of events or a WebSocket failed.
public struct HTTPError: Failure {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// What happened and what to do next: "cannot connect to localhost:8080: nothing is listening there; …".
    public let message: String
    /// The status of the server's response, if there was one.
    public var status: HTTPStatus?
    /// How long the server asked to wait before the next attempt.
    public var retryAfter: Duration?
    /// The certificate that was refused.
    public var certificate: PresentedCertificate?
    public var cause: (any Error)?
    /// Whether the server may have received part of the request; then only repeatable requests are retried.
    public var mayHaveBeenSent: Bool
    /// The host and port that the request went to, for programs.
    public var server: String?

    /// - Parameter mayHaveBeenSent: true unless it is certain that no part of the request has left.
    public init(
        _ kind: Kind, _ message: String, status: HTTPStatus? = nil, retryAfter: Duration? = nil,
        certificate: PresentedCertificate? = nil, mayHaveBeenSent: Bool = true, server: String? = nil,
        cause: (any Error)? = nil
    ) {
        self.kind = kind
        self.message = message
        self.status = status
        self.retryAfter = retryAfter
        self.certificate = certificate
        self.mayHaveBeenSent = mayHaveBeenSent
        self.server = server
        self.cause = cause
    }

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .invalid, .invalidURL, .notPermitted: .usage
        case .certificate: .denied
        case .status:
            switch status?.code {
            case 401, 403, 423: .denied
            case 429: .unreachable
            default: .failed
            }
        case .badAnswer, .tooLarge, .headTooLarge, .body: .failed
        default: .unreachable
        }
    }

    public var details: JSONObject {
        var details: JSONObject = [:]
        if let status { details["status"] = .int(status.code) }
        if let server { details["server"] = .string(server) }
        if let retryAfter { details["retryAfterSeconds"] = .double(retryAfter / .seconds(1)) }
        if let certificate {
            details["fingerprint"] = .string(Hexadecimal.encode(certificate.fingerprint))
            details["defects"] = .array(certificate.defects.map { .string($0.description) })
        }
        return details
    }
}

extension HTTPError {
    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<HTTPError>
}

/// The reasons of a `HTTPError`.
extension FailureKind<HTTPError> {
    /// The request itself cannot be sent: a header, a file, a limit.
    public static var invalid: Self { "http.invalid-request" }
    /// The address is not valid.
    public static var invalidURL: Self { "http.invalid-url" }
    /// The name does not exist, or the name server did not respond.
    public static var nameNotFound: Self { "http.name-not-found" }
    /// Nothing listens there.
    public static var refused: Self { "http.refused" }
    /// No way to the host: no network, no route.
    public static var unreachable: Self { "http.unreachable" }
    /// The connection was reset or broke.
    public static var reset: Self { "http.reset" }
    /// The response ended before it was complete.
    public static var cut: Self { "http.cut" }
    /// The connection was not made in time.
    public static var connectTimedOut: Self { "http.timed-out.connect" }
    /// The response did not begin in time.
    public static var firstByteTimedOut: Self { "http.timed-out.first-byte" }
    /// No data arrived for too long.
    public static var idleTimedOut: Self { "http.timed-out.idle" }
    /// The whole response took too long.
    public static var totalTimedOut: Self { "http.timed-out.total" }
    /// The certificate was refused; see `certificate`.
    public static var certificate: Self { "http.certificate" }
    /// TLS failed for another reason: no common version, a missing client certificate.
    public static var tls: Self { "http.tls" }
    /// The proxy refused or failed.
    public static var proxy: Self { "http.proxy" }
    /// A body, an event, a line or a message beyond the limit.
    public static var tooLarge: Self { "http.too-large" }
    /// A head beyond the limit.
    public static var headTooLarge: Self { "http.head-too-large" }
    /// More redirects than allowed, or one that cannot be followed.
    public static var redirect: Self { "http.redirect" }
    /// The response violates the protocol.
    public static var badAnswer: Self { "http.bad-answer" }
    /// A status that means failure, where the caller asked for success.
    public static var status: Self { "http.status" }
    /// The body of the request could not be read.
    public static var body: Self { "http.body" }
    /// The caller is not permitted to reach that server.
    public static var notPermitted: Self { "http.not-permitted" }
    /// The client was closed.
    public static var closed: Self { "http.closed" }
}
