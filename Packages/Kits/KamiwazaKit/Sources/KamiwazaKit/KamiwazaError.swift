public import Capabilities
import HTTPClient
import HTTPCore
public import JSON

/// Why a request to the platform failed.
///
/// No message contains a password or token, whatever the server sent. Certificate errors stay `HTTPError`, because it
/// holds the certificate.
public struct KamiwazaError: Failure {
    /// The stable reason, to compare with `==`.
    public let kind: Kind
    public let message: String
    /// The status of the response, if there was one.
    public let status: Int?
    /// The wait that the server requested.
    public let retryAfter: Duration?
    public let cause: (any Error)?

    /// - Parameter message: what happened and what to do next, without a secret.
    public init(
        _ kind: Kind, _ message: String, status: Int? = nil, retryAfter: Duration? = nil, cause: (any Error)? = nil
    ) {
        self.kind = kind
        self.message = message
        self.status = status
        self.retryAfter = retryAfter
        self.cause = cause
    }

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .invalidAddress: .usage
        case .wrongPassword, .locked, .signInAgain, .sessionEnded, .forbidden: .denied
        case .unreachable, .timedOut, .notAPlatform, .tooManyRequests, .notReady: .unreachable
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

extension KamiwazaError {
    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<KamiwazaError>
}

/// The reasons of a `KamiwazaError`.
extension FailureKind<KamiwazaError> {
    /// The typed text is not a server address.
    public static var invalidAddress: Self { "kamiwaza.invalid-address" }
    /// No connection: the name, the network, nothing listening, or a broken connection.
    public static var unreachable: Self { "kamiwaza.unreachable" }
    /// The server at the address is not a Kamiwaza platform.
    public static var notAPlatform: Self { "kamiwaza.not-a-platform" }
    /// No answer in time.
    public static var timedOut: Self { "kamiwaza.timed-out" }
    /// The user name or the password is wrong.
    public static var wrongPassword: Self { "kamiwaza.wrong-password" }
    /// The account is locked, temporarily or permanently.
    public static var locked: Self { "kamiwaza.locked" }
    /// The credential is not accepted, or none was given.
    public static var signInAgain: Self { "kamiwaza.sign-in-again" }
    /// The refresh token is not accepted, so the user must sign in again.
    public static var sessionEnded: Self { "kamiwaza.session-ended" }
    /// The account has no permission for this.
    public static var forbidden: Self { "kamiwaza.forbidden" }
    /// There is nothing at this address of the API.
    public static var notFound: Self { "kamiwaza.not-found" }
    /// The server understood and refused the request. The message contains the server's reason.
    public static var refused: Self { "kamiwaza.refused" }
    /// The server limits the number of requests; `retryAfter` may say how long.
    public static var tooManyRequests: Self { "kamiwaza.too-many-requests" }
    /// The server, or a part of it, is starting or overloaded.
    public static var notReady: Self { "kamiwaza.not-ready" }
    /// The server had an internal error.
    public static var serverFailed: Self { "kamiwaza.server-failed" }
    /// The response does not match the API: a web page, invalid JSON, a missing member, or too much data.
    public static var badAnswer: Self { "kamiwaza.bad-answer" }
    /// The server redirects the request elsewhere. This is not followed, because it would send the credential
    /// there.
    public static var redirected: Self { "kamiwaza.redirected" }
}

extension KamiwazaError {
    /// The error for a failure status, depending on the purpose of the request.
    init(_ response: HTTPResponse, to call: KamiwazaCall, redactor: Redactor) {
        let server = response.url.server
        let words = ServerReason(response, redactor: redactor)
        let because = words.text.map { ": \($0)" } ?? ""
        let (kind, message): (Kind, String)
        switch (response.status.code, call.purpose) {
        case (401, .signIn):
            (kind, message) = (.wrongPassword, "the user name or password is wrong; check both and try again")
        case (400, .signIn) where words.mentions("invalid_grant"):
            (kind, message) = (.wrongPassword, "the user name or password is wrong; check both and try again")
        case (403, .signIn):
            (kind, message) = (
                .wrongPassword, "the user name or password is wrong, or this account may not sign in\(because)"
            )
        case (423, _):
            let wait = words.retryAfter.map { "try again in \($0.words)" } ?? "wait a while"
            (kind, message) = (.locked, "the account is locked; \(wait), or ask an administrator to unlock it")
        case (400, .refresh), (401, .refresh), (403, .refresh):
            (kind, message) = (.sessionEnded, "the session at \(server) has ended; sign in again")
        case (401, _):
            (kind, message) = (.signInAgain, "\(server) no longer accepts the sign-in; sign in again")
        case (403, _):
            (kind, message) = (
                .forbidden, "this account does not have permission for this request at \(server)\(because)"
            )
        case (404, _):
            (kind, message) = (.notFound, "\(server) has nothing at \(call.path)\(because)")
        case (408, _), (504, _):
            (kind, message) = (.timedOut, "\(server) timed out while it waited for another service; try again later")
        case (429, _):
            (kind, message) = (.tooManyRequests, "\(server) received too many requests\(Self.wait(words))\(because)")
        case (502, _), (503, _):
            (kind, message) = (.notReady, "\(server) is not ready\(Self.wait(words))\(because)")
        case (500..., _):
            (kind, message) = (
                .serverFailed,
                "\(server) had an internal error (\(response.status))\(because); try again later"
            )
        case (400..., _):
            (kind, message) = (.refused, "\(server) refused the request (\(response.status))\(because)")
        case (300..., _):
            (kind, message) = (
                .redirected, "\(server) redirects this request to another server; check the server address"
            )
        default:
            (kind, message) = (.badAnswer, "unexpected response from \(server): \(response.status)")
        }
        self.init(kind, message, status: response.status.code, retryAfter: words.retryAfter)
    }

    private static func wait(_ words: ServerReason) -> String {
        words.retryAfter.map { "; try again in \($0.words)" } ?? "; try again later"
    }
}

extension KamiwazaError {
    /// The error for a transport failure. Certificate errors and programming errors stay unchanged.
    static func onTheWay(_ error: HTTPError) -> any Error {
        switch error.kind {
        case .certificate, .invalid, .closed, .body: error
        case .connectTimedOut, .firstByteTimedOut, .idleTimedOut, .totalTimedOut:
            KamiwazaError(
                .timedOut, "the request timed out: \(error.message); try again later", cause: error)
        case .tooLarge, .headTooLarge:
            KamiwazaError(
                .badAnswer,
                "the response from \(error.server ?? "the server") is larger than "
                    + "\(ByteCount(KamiwazaAPI.largestAnswer).words), which no platform sends; check the "
                    + "address", status: error.status?.code, cause: error)
        case .badAnswer:
            KamiwazaError(
                .badAnswer, "unexpected response from the server: \(error.message)", status: error.status?.code,
                cause: error)
        default:
            KamiwazaError(.unreachable, "cannot reach the server: \(error.message)", cause: error)
        }
    }
}

/// The server's reason for a refusal, as one line that is safe to show.
struct ServerReason {
    let text: String?
    let retryAfter: Duration?

    /// Reads the `detail` as a text, a list of `{loc, msg}` or an object; or `message`; or `error_description`; or a
    /// short plain text.
    init(_ response: HTTPResponse, redactor: Redactor) {
        // A body that is not JSON may still be a sentence.
        let body = response.body.count <= 1 << 20 ? try? JSON(parsing: response.body, reading: .stream) : nil
        let isPlain = response.headers["Content-Type"]?.lowercased().hasPrefix("text/plain") ?? false
        let words = body.flatMap(Self.words) ?? (body == nil && isPlain ? response.text : nil)
        // Redacted before it is cut, because half a secret would not be recognised.
        text = words.flatMap { Self.line(redactor.redact(String($0.prefix(4000)))) }
        let usual = HTTPError(status: response.status, headers: response.headers, body: [], server: "")
        retryAfter = usual.retryAfter ?? body.flatMap(Self.retryAfter)
    }

    func mentions(_ word: String) -> Bool {
        text?.lowercased().contains(word) ?? false
    }

    private static func words(_ body: JSON) -> String? {
        if let detail = body["detail"] {
            if let list = detail.array { return list.prefix(5).compactMap(problem).joined(separator: "; ") }
            if let words = detail.string ?? sentence(detail) { return words }
        }
        return sentence(body) ?? body["error"].flatMap { $0.string == nil ? sentence($0) : nil }
    }

    /// The code and the message of an object, whichever exist.
    private static func sentence(_ object: JSON) -> String? {
        let code = object["code"]?.string ?? object["reason"]?.string ?? object["error"]?.string
        let message = object["message"]?.string ?? object["error_description"]?.string ?? object["msg"]?.string
        let parts = [code, message].compactMap(\.self).filter { !$0.isEmpty }
        return parts.isEmpty ? nil : parts.joined(separator: ": ")
    }

    /// One entry of a list of problems: place and message. The value, which some servers repeat, is left out.
    private static func problem(_ entry: JSON) -> String? {
        if let text = entry.string { return text }
        guard let message = entry["msg"]?.string ?? entry["message"]?.string else { return nil }
        let place = (entry["loc"]?.array ?? []).compactMap { $0.string ?? $0.int.map(String.init) }
        return place.isEmpty ? message : "\(place.joined(separator: ".")): \(message)"
    }

    private static func retryAfter(_ body: JSON) -> Duration? {
        let seconds = body["retry_after_seconds"]?.double ?? body["detail"]?["retry_after_seconds"]?.double
        guard let seconds, seconds > 0, seconds < 1e9 else { return nil }
        return .milliseconds(Int((seconds * 1000).rounded()))
    }

    private static func line(_ text: String) -> String? {
        var line = text.split { $0.isNewline || $0 == "\t" || $0 == " " }.joined(separator: " ")
        // The line becomes part of a message without a final stop.
        while line.hasSuffix(".") { line.removeLast() }
        guard !line.isEmpty else { return nil }
        return PlainText.escape(line, limit: 400)
    }
}
