public import Capabilities
public import JSON

/// Why a turn did not begin, or did not come to its natural end.
public struct GatewayError: Failure {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// A sentence for a person: what happened and what to do next.
    public let message: String
    /// The field of the request that is to blame, if one is.
    public let param: String?
    /// After how long the same request may be accepted, where that is known.
    public let retryAfter: Duration?
    public let cause: (any Error)?

    public var code: String { kind.description }
    /// What HTTP calls it.
    public var status: Int { kind.status }
    public var details: JSONObject {
        var details: JSONObject = ["status": .int(status)]
        if let param { details["param"] = .string(param) }
        if let retryAfter { details["retry_after"] = .int(Int((retryAfter / .seconds(1)).rounded(.up))) }
        return details
    }

    init(
        _ kind: Kind, _ message: String, param: String? = nil, retryAfter: Duration? = nil, cause: (any Error)? = nil
    ) {
        self.kind = kind
        self.message = message
        self.param = param
        self.retryAfter = retryAfter
        self.cause = cause
    }

    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: "gateway.session-busy".
        public let description: String
        let status: Int

        private init(_ name: String, _ status: Int) {
            description = "gateway.\(name)"
            self.status = status
        }

        /// Parts of the request contradict each other.
        public static let invalid = Kind("invalid-request", 400)
        public static let missingMessages = Kind("missing-messages", 400)
        /// Nothing in the request is new to the session.
        public static let missingUserMessage = Kind("missing-user-message", 400)
        public static let modelNotFound = Kind("model-not-found", 404)
        /// Several providers have a model of this name.
        public static let modelAmbiguous = Kind("model-ambiguous", 400)
        /// The provider exists but does not say now which models it has.
        public static let modelUnavailable = Kind("model-unavailable", 503)
        public static let projectNotFound = Kind("project-not-found", 404)
        public static let sessionNotFound = Kind("session-not-found", 404)
        /// There is no such question, or it was answered, or its time is over.
        public static let approvalNotFound = Kind("approval-not-found", 404)
        /// A turn of the session is running, here or in another process.
        public static let sessionBusy = Kind("session-busy", 409)
        /// The project's folder cannot be opened.
        public static let folderMissing = Kind("folder-missing", 409)
        /// The tokens or the money of a session, a project, a client's token or a day are used up.
        public static let budgetExceeded = Kind("budget-exceeded", 429)
        /// The gateway is being shut down.
        public static let closing = Kind("closing", 503)

        /// A tool was selected that nobody has.
        public static let unknownTool = Kind("unknown-tool", 404)
        /// A source does not say which tools it has.
        public static let toolsUnavailable = Kind("tools-unavailable", 503)

        // How a turn may end before the model has had its say.

        /// The token with which it was asked for was revoked or has ended.
        public static let tokenEnded = Kind("token-ended", 401)
        public static let timeLimit = Kind("time-limit", 504)
        public static let roundLimit = Kind("round-limit", 429)
        public static let outputLimit = Kind("output-limit", 429)
        public static let costLimit = Kind("cost-limit", 429)
    }
}
