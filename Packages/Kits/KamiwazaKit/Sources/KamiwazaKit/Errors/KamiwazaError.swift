public import Capabilities
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
