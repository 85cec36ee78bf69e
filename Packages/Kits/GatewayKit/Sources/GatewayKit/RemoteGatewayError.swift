public import Capabilities
import HTTPClient
import HTTPCore
public import JSON
public import ModelKit

/// Why a request to an agent gateway failed.
///
/// What does not exist there, is in use or has changed is an `AgentServerError`. A certificate that was refused stays the
/// `HTTPError` that holds it. No message contains a credential, whatever the server sent.
public struct RemoteGatewayError: Failure {
    /// The stable reason, compared with `==`.
    public let kind: Kind
    public let message: String
    /// The status of the response, if there was one.
    public var status: Int?
    /// How long to wait before the next request, if that is known.
    public var retryAfter: Duration?
    /// What the server said, if it could be read.
    public var refusal: ServerRefusal?
    public var cause: (any Error)?

    /// - Parameter message: what happened and what to do next, without a credential.
    init(
        _ kind: Kind, _ message: String, status: Int? = nil, retryAfter: Duration? = nil,
        refusal: ServerRefusal? = nil, cause: (any Error)? = nil
    ) {
        self.kind = kind
        self.message = message
        self.status = status
        self.retryAfter = retryAfter
        self.refusal = refusal
        self.cause = cause
    }

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .invalid: .usage
        case .keyRefused, .forbidden: .denied
        case .unreachable, .timedOut, .rateLimited, .notReady: .unreachable
        default: .failed
        }
    }

    public var details: JSONObject {
        var details: JSONObject = [:]
        if let status { details["status"] = .int(status) }
        if let retryAfter { details["retryAfterSeconds"] = .double(retryAfter / .seconds(1)) }
        return details
    }
}

extension RemoteGatewayError {
    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<RemoteGatewayError>
}

/// The reasons of a `RemoteGatewayError`.
extension FailureKind<RemoteGatewayError> {
    /// What was asked for cannot be sent.
    public static var invalid: Self { "remote-gateway.invalid" }
    /// No connection: the name, the network, nothing listening, or a broken connection.
    public static var unreachable: Self { "remote-gateway.unreachable" }
    /// No answer in time.
    public static var timedOut: Self { "remote-gateway.timed-out" }
    /// The key is not accepted, or none was sent.
    public static var keyRefused: Self { "remote-gateway.key-refused" }
    /// The key is not allowed to do this.
    public static var forbidden: Self { "remote-gateway.forbidden" }
    /// The server limits the number of requests.
    public static var rateLimited: Self { "remote-gateway.rate-limited" }
    /// The server is starting, overloaded, or full.
    public static var notReady: Self { "remote-gateway.not-ready" }
    /// The server understood and refused the request. The message has its reason.
    public static var refused: Self { "remote-gateway.refused" }
    /// The server had an internal error.
    public static var serverFailed: Self { "remote-gateway.server-failed" }
    /// The response is not that of an agent gateway: a web page, invalid JSON, a missing member, or too much data.
    public static var badAnswer: Self { "remote-gateway.bad-answer" }
    /// The server redirects the request, and redirects are not followed.
    public static var redirected: Self { "remote-gateway.redirected" }
}

extension RemoteGatewayError {
    /// The error for a failed connection. Refused certificates and mistakes of this program stay as they are.
    static func onTheWay(_ error: HTTPError, to server: String, _ redactor: Redactor) -> any Error {
        let words = redactor.redact(error.message)
        func failure(_ kind: Kind, _ message: String) -> RemoteGatewayError {
            RemoteGatewayError(
                kind, message, status: error.status?.code, retryAfter: error.retryAfter, cause: error)
        }
        return switch error.kind {
        case .certificate, .invalid, .closed, .body, .notPermitted: error
        case .connectTimedOut, .firstByteTimedOut, .idleTimedOut, .totalTimedOut:
            failure(.timedOut, "\(server) did not answer in time: \(words); try again later")
        case .tooLarge, .headTooLarge:
            failure(
                .badAnswer, "the answer of \(server) is too large: \(words); check that its address leads to a gateway")
        case .badAnswer: failure(.badAnswer, "unexpected response from \(server): \(words); check its address")
        default: failure(.unreachable, "cannot reach \(server): \(words); check that it runs, and its address")
        }
    }
}
