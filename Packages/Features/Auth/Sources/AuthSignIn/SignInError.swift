public import Capabilities
import HTTPClient
import HTTPCore
public import JSON

/// Why a sign-in or a session failed. It never contains a token, a code or a password.
public struct SignInError: Failure {
    /// The stable reason, to compare with `==`.
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

    /// The server does not accept the credential, and will not accept it later.
    ///
    /// When `SessionSource.renew` throws it, the session ends for good.
    public static func refused(_ message: String, reason: String? = nil, cause: (any Error)? = nil) -> SignInError {
        SignInError(.refused, message, reason: reason, cause: cause)
    }

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .refused, .signInAgain, .signedOut, .issuer, .identity, .client: .denied
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
    public typealias Kind = FailureKind<SignInError>
}

/// The reasons of a `SignInError`.
extension FailureKind<SignInError> {
    /// The server rejected the user, the code, the token or the client.
    public static var refused: Self { "auth.refused" }
    /// The session has ended and cannot be renewed.
    public static var signInAgain: Self { "auth.sign-in-again" }
    /// There is no session.
    public static var signedOut: Self { "auth.signed-out" }
    /// The response comes from, or is about, a different server than requested.
    public static var issuer: Self { "auth.issuer" }
    /// The identity token is for another program or another sign-in, or has expired.
    public static var identity: Self { "auth.identity" }
    /// The server does not know this program, or the settings about its client cannot be used.
    public static var client: Self { "auth.client" }
    /// The server was not reachable, or could not answer now.
    public static var unreachable: Self { "auth.unreachable" }
    /// The sign-in was not completed in time.
    public static var unanswered: Self { "auth.unanswered" }
    /// The server's response does not follow the protocol.
    public static var badAnswer: Self { "auth.bad-answer" }
    /// The stored session cannot be read.
    public static var unreadable: Self { "auth.session-unreadable" }
    /// The keeper of the session was closed.
    public static var closed: Self { "auth.closed" }
}

extension SignInError {
    /// A resource wants its user to sign in, and no user is there.
    public static func needsPerson(at resource: ResourceAddress) -> SignInError {
        SignInError(
            .unanswered,
            "\(PlainText.escape(resource.text, limit: 200)) wants you to sign in, which needs a person; "
                + "sign in at a terminal first")
    }

    static func signInAgain(cause: (any Error)? = nil) -> SignInError {
        SignInError(.signInAgain, "the session has ended and cannot be renewed; sign in again", cause: cause)
    }

    /// Whether the server allows the sign-in, but only for its own session lifetime. Keycloak reports `not_allowed` for
    /// a user or client without offline tokens.
    var refusesOfflineAccess: Bool {
        reason == "invalid_scope" || reason == "not_allowed" || message.lowercased().contains("offline")
    }

    static var signedOut: SignInError {
        SignInError(.signedOut, "not signed in to this server; sign in first")
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
        // Without JSON, the status describes the refusal.
        let json = try? response.jsonObject()
        code = ServerText.line(json?["error"]?.string, hiding: secrets)
        words = ServerText.line(json?["error_description"]?.string, hiding: secrets)
        status = response.status
        server = response.url.server
    }

    /// The refusal as an error about the purpose: "the sign-in", "to renew the session".
    func error(_ purpose: String) -> SignInError {
        if status.code == 429 || status.code >= 500 {
            return SignInError(
                .unreachable, "\(server) answered \(status) to \(subject(purpose)); try again later", reason: code)
        }
        let message = "\(server) refused \(purpose): \(Self.sentence(code) ?? "it answered \(status)")"
        let whole = words.map { "\(message) (\($0))" } ?? message
        // An error in the request does not mean that its token is invalid.
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
        case "invalid_grant": "the code or token is no longer valid; sign in again"
        case "invalid_client": "it does not know the configured client id"
        case "unauthorized_client": "it does not allow this program to sign in this way"
        case "access_denied": "the sign-in was declined"
        case "expired_token": "the sign-in timed out; start it again"
        case "not_allowed": "it does not allow the request for this user or program"
        case "invalid_scope": "it does not know or grant the requested scope"
        case "unsupported_grant_type", "unsupported_response_type": "it does not support this way of signing in"
        case "invalid_request": "it does not understand the request"
        case "login_required", "interaction_required", "consent_required": "it needs an answer in the browser"
        case "server_error": "it had an internal error"
        case "temporarily_unavailable": "it is busy; try again later"
        default: "it reports \(code)"
        }
    }
}

/// Text from a server, made safe for error messages.
enum ServerText {
    /// One line without control characters, cut at 300 characters. `secrets` are removed, because a server may repeat
    /// what it received. Nil when nothing is left.
    static func line(_ text: String?, hiding secrets: [Secret] = []) -> String? {
        guard var text else { return nil }
        for secret in secrets {
            text = secret.withText { $0.isEmpty ? text : replacing($0, in: text) }
        }
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !line.isEmpty else { return nil }
        return PlainText.escape(line, limit: 300)
    }

    private static func replacing(_ secret: String, in text: String) -> String {
        // Compared by bytes, because a combining character after a secret would make it a different `String`.
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
