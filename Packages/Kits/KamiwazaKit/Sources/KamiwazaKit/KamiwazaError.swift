public import Capabilities
import HTTPClient
import HTTPCore
public import JSON

/// Why the platform did not do what was asked, in words for a person.
///
/// No message has a password or token in it, whatever the server said. What is wrong with a certificate is told by
/// `HTTPError`, untouched, because it has the certificate.
public struct KamiwazaError: Failure {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    public let message: String
    /// The status that the server answered with, where it answered.
    public let status: Int?
    /// How long the server asked to wait.
    public let retryAfter: Duration?
    public let cause: (any Error)?

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
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: `kamiwaza.locked`.
        public let description: String

        private init(_ name: String) {
            description = "kamiwaza.\(name)"
        }

        /// What was typed is no address of a server.
        public static let invalidAddress = Kind("invalid-address")
        /// No connection: name, network, nothing listening, broken off.
        public static let unreachable = Kind("unreachable")
        /// Something answers at the address, and it is no Kamiwaza platform.
        public static let notAPlatform = Kind("not-a-platform")
        /// No answer in time.
        public static let timedOut = Kind("timed-out")
        /// The user name or the password is wrong.
        public static let wrongPassword = Kind("wrong-password")
        /// The account is locked for a while, or for good.
        public static let locked = Kind("locked")
        /// The credential is not accepted, or none was given.
        public static let signInAgain = Kind("sign-in-again")
        /// The refresh token is not accepted, so that only a new sign-in helps.
        public static let sessionEnded = Kind("session-ended")
        /// The account has no right to this.
        public static let forbidden = Kind("forbidden")
        public static let notFound = Kind("not-found")
        /// The request was understood and refused; the message has the server's own words.
        public static let refused = Kind("refused")
        public static let tooManyRequests = Kind("too-many-requests")
        /// The server, or a part of it, is starting or overloaded.
        public static let notReady = Kind("not-ready")
        /// Something went wrong inside of the server.
        public static let serverFailed = Kind("server-failed")
        /// The answer is not what this API promises: a web page, no JSON, a member that is missing, too much.
        public static let badAnswer = Kind("bad-answer")
        /// The server sends the request elsewhere, which is not followed because a credential would go along.
        public static let redirected = Kind("redirected")
    }
}

extension KamiwazaError {
    /// What an answer whose status means failure says, where the meaning depends on what was asked.
    init(_ response: HTTPResponse, to call: KamiwazaCall, redactor: Redactor) {
        let server = response.url.server
        let words = ServerWords(response, redactor: redactor)
        let because = words.text.map { ": \($0)" } ?? ""
        let (kind, message): (Kind, String)
        switch (response.status.code, call.purpose) {
        case (401, .signIn):
            (kind, message) = (.wrongPassword, "the user name or the password is wrong; check both and try again")
        case (400, .signIn) where words.mentions("invalid_grant"):
            (kind, message) = (.wrongPassword, "the user name or the password is wrong; check both and try again")
        case (403, .signIn):
            (kind, message) = (
                .wrongPassword, "the user name or the password is wrong, or this account may not sign in\(because)"
            )
        case (423, _):
            let wait = words.retryAfter.map { "try again in \($0.words)" } ?? "wait a while"
            (kind, message) = (.locked, "the account is locked; \(wait), or ask an administrator to unlock it")
        case (400, .refresh), (401, .refresh), (403, .refresh):
            (kind, message) = (.sessionEnded, "the session at \(server) has ended; sign in again")
        case (401, _):
            (kind, message) = (.signInAgain, "\(server) does not accept the sign-in any more; sign in again")
        case (403, _):
            (kind, message) = (.forbidden, "this account has no permission for that at \(server)\(because)")
        case (404, _):
            (kind, message) = (.notFound, "\(server) has nothing at \(call.path)\(because)")
        case (408, _), (504, _):
            (kind, message) = (.timedOut, "\(server) did not get an answer in time itself; try again later")
        case (429, _):
            (kind, message) = (.tooManyRequests, "\(server) was asked too often\(Self.wait(words))\(because)")
        case (502, _), (503, _):
            (kind, message) = (.notReady, "\(server) is not ready\(Self.wait(words))\(because)")
        case (500..., _):
            (kind, message) = (
                .serverFailed,
                "something went wrong inside of \(server) (\(response.status))\(because); try again later"
            )
        case (400..., _):
            (kind, message) = (.refused, "\(server) refused the request (\(response.status))\(because)")
        case (300..., _):
            (kind, message) = (.redirected, "\(server) sends this request elsewhere; check the address of the server")
        default:
            (kind, message) = (.badAnswer, "\(server) answered \(response.status), which means nothing here")
        }
        self.init(kind, message, status: response.status.code, retryAfter: words.retryAfter)
    }

    private static func wait(_ words: ServerWords) -> String {
        words.retryAfter.map { "; try again in \($0.words)" } ?? "; try again later"
    }
}

extension KamiwazaError {
    /// What a failure on the way means here. Certificates and mistakes of the program stay what they are.
    static func onTheWay(_ error: HTTPError) -> any Error {
        switch error.kind {
        case .certificate, .invalid, .closed, .body: error
        case .connectTimedOut, .firstByteTimedOut, .idleTimedOut, .totalTimedOut:
            KamiwazaError(
                .timedOut, "the server did not answer in time: \(error.message); try again later", cause: error)
        case .tooLarge, .headTooLarge:
            KamiwazaError(
                .badAnswer,
                "the answer of \(error.server ?? "the server") is larger than \(ByteCount(KamiwazaAPI.largestAnswer).words)"
                    + ", as no answer of a platform is; check the address", status: error.status?.code, cause: error)
        case .badAnswer:
            KamiwazaError(
                .badAnswer, "the server answered what cannot be used: \(error.message)", status: error.status?.code,
                cause: error)
        default:
            KamiwazaError(.unreachable, "the server could not be reached: \(error.message)", cause: error)
        }
    }
}

/// What a server says about a refusal, as one line that is safe to show.
struct ServerWords {
    let text: String?
    let retryAfter: Duration?

    /// The answer's `detail` as a text, a list of `{loc, msg}` or an object; `message`; `error_description`; or a short
    /// plain text.
    init(_ response: HTTPResponse, redactor: Redactor) {
        // A body that is no JSON may still be a sentence, so that it cannot be read is no failure.
        let body = response.body.count <= 1 << 20 ? try? JSON(parsing: response.body, reading: .stream) : nil
        let isPlain = response.headers["Content-Type"]?.lowercased().hasPrefix("text/plain") ?? false
        let words = body.flatMap(Self.words) ?? (body == nil && isPlain ? response.text : nil)
        // Before it is cut: half a secret would not be recognised.
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

    /// The code and the sentence of an object, whichever are there.
    private static func sentence(_ object: JSON) -> String? {
        let code = object["code"]?.string ?? object["reason"]?.string ?? object["error"]?.string
        let message = object["message"]?.string ?? object["error_description"]?.string ?? object["msg"]?.string
        let parts = [code, message].compactMap(\.self).filter { !$0.isEmpty }
        return parts.isEmpty ? nil : parts.joined(separator: ": ")
    }

    /// One entry of a list of problems: where, and what. The value itself, which some servers repeat, is left out.
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
        // It becomes a part of our sentence, which has no final stop.
        while line.hasSuffix(".") { line.removeLast() }
        guard !line.isEmpty else { return nil }
        return PlainText.escape(line.count > 400 ? line.prefix(400) + "…" : line)
    }
}
