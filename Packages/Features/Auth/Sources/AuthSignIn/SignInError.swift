public import Capabilities
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
