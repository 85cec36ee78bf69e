public import Capabilities
import HTTPClient
import HTTPCore
public import JSON

/// Why somebody is not signed in: what happened and what to do next. It never holds a token, a code or a password.
public struct SignInError: Failure {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    public let message: String
    public let cause: (any Error)?
    /// The server's own code for the refusal, such as `invalid_grant`.
    public let reason: String?

    init(_ kind: Kind, _ message: String, reason: String? = nil, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.reason = reason
        self.cause = cause
    }

    /// The server does not accept the credential, and will not when it is sent again.
    ///
    /// Thrown from `SessionSource.renew` it ends the session for good.
    public static func refused(_ message: String, reason: String? = nil, cause: (any Error)? = nil) -> SignInError {
        SignInError(.refused, message, reason: reason, cause: cause)
    }

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .refused, .signInAgain, .signedOut, .issuer, .identity: .denied
        case .unreachable: .unreachable
        case .unanswered: .unanswered
        default: .failed
        }
    }

    public var details: JSONObject {
        guard let reason else { return [:] }
        return ["reason": .string(reason)]
    }

    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: `auth.refused`.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The server said no: to the person, the code, the token or the client.
        public static let refused = Kind("auth.refused")
        /// The session has ended and cannot be renewed.
        public static let signInAgain = Kind("auth.sign-in-again")
        /// There is no session.
        public static let signedOut = Kind("auth.signed-out")
        /// The answer comes from, or speaks for, another server than the one that was asked.
        public static let issuer = Kind("auth.issuer")
        /// The identity token is not about this sign-in: another program, another sign-in, or over.
        public static let identity = Kind("auth.identity")
        /// The server was not reached, or could not answer just now.
        public static let unreachable = Kind("auth.unreachable")
        /// Nobody signed in within the time.
        public static let unanswered = Kind("auth.unanswered")
        /// The server's answer is not what the protocol says.
        public static let badAnswer = Kind("auth.bad-answer")
        /// What was stored of a session cannot be read.
        public static let unreadable = Kind("auth.session-unreadable")
        /// The keeper of the session was closed.
        public static let closed = Kind("auth.closed")
    }
}

extension SignInError {
    static func signInAgain(cause: (any Error)? = nil) -> SignInError {
        SignInError(.signInAgain, "the session has ended and cannot be renewed; sign in again", cause: cause)
    }

    /// Whether the server would sign the person in, but not for longer than its own session. Keycloak says `not_allowed`
    /// for a user or client without offline tokens.
    var refusesOfflineAccess: Bool {
        reason == "invalid_scope" || reason == "not_allowed" || message.lowercased().contains("offline")
    }

    static var signedOut: SignInError {
        SignInError(.signedOut, "nobody is signed in to this server; sign in first")
    }
}

/// A server's refusal in the shape of RFC 6749, section 5.2.
struct Refusal {
    /// The code of the refusal, such as `invalid_grant`; nil where the answer has no such shape.
    let code: String?
    private let words: String?
    private let status: HTTPStatus
    private let server: String

    init(_ response: HTTPResponse, hiding secrets: [Secret]) {
        // A refusal that is no JSON is told by its status.
        let json = try? response.jsonObject()
        code = ForeignWords.line(json?["error"]?.string, hiding: secrets)
        words = ForeignWords.line(json?["error_description"]?.string, hiding: secrets)
        status = response.status
        server = response.url.server
    }

    /// The refusal as an error about what was asked for: "the sign-in", "to renew the session".
    func error(_ purpose: String) -> SignInError {
        if status.code == 429 || status.code >= 500 {
            return SignInError(
                .unreachable, "\(server) answered \(status) to \(subject(purpose)); try again later", reason: code)
        }
        let message = "\(server) refused \(purpose): \(Self.sentence(code) ?? "it answered \(status)")"
        let whole = words.map { "\(message) (\($0))" } ?? message
        // A mistake in the request says nothing about the token that was in it.
        let isFinal = code == "invalid_grant" || status.code == 401 || status.code == 403 || Self.denials.contains(code)
        return isFinal ? .refused(whole, reason: code) : SignInError(.badAnswer, whole, reason: code)
    }

    private func subject(_ purpose: String) -> String {
        purpose.hasPrefix("to ") ? "the request \(purpose)" : purpose
    }

    private static let denials: [String?] = ["access_denied", "unauthorized_client", "invalid_client", "expired_token"]

    static func sentence(_ code: String?) -> String? {
        guard let code else { return nil }
        return switch code {
        case "invalid_grant": "the code or token is not valid any more; sign in again"
        case "invalid_client": "it does not know this program under the client id that is set"
        case "unauthorized_client": "it does not allow this program to sign people in this way"
        case "access_denied": "the sign-in was declined"
        case "expired_token": "the time for the sign-in is over; start it again"
        case "not_allowed": "it does not allow this user or program what was asked for"
        case "invalid_scope": "it does not know, or does not grant, what was asked for"
        case "unsupported_grant_type", "unsupported_response_type": "it does not offer this way of signing in"
        case "invalid_request": "it does not understand the request"
        case "login_required", "interaction_required", "consent_required": "it needs somebody to answer in the browser"
        case "server_error": "something went wrong inside of it"
        case "temporarily_unavailable": "it is busy; try again later"
        default: "it says \(code)"
        }
    }
}

/// What a server says in words, made fit to stand in an error of ours.
enum ForeignWords {
    /// One line without controls, cut at 300 characters. A server may repeat what it was sent, so `secrets` are taken
    /// out of it; nil when nothing is left.
    static func line(_ text: String?, hiding secrets: [Secret] = []) -> String? {
        guard var text else { return nil }
        for secret in secrets {
            text = secret.withText { $0.isEmpty ? text : replacing($0, in: text) }
        }
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !line.isEmpty else { return nil }
        return PlainText.escape(line.count > 300 ? line.prefix(300) + "…" : line)
    }

    private static func replacing(_ secret: String, in text: String) -> String {
        // By bytes, since a combining character behind a secret would make it another text for `String`.
        let wanted = Array(secret.utf8)
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes.count - index >= wanted.count, bytes[index..<index + wanted.count].elementsEqual(wanted) {
                result += Array("‹redacted›".utf8)
                index += wanted.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
