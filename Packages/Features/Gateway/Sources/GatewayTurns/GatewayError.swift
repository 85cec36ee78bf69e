public import Capabilities
public import JSON

/// Why a turn was not started, or ended early.
public struct GatewayError: Failure {
    /// The stable reason; compare it with `==`.
    public let kind: Kind
    /// A message for the user: what happened and what to do next.
    public let message: String
    /// The member of the request that caused the error, if any.
    public let param: String?
    /// The time after which to retry the request, if known.
    public let retryAfter: Duration?
    public let cause: (any Error)?

    public var code: String { kind.description }
    /// The HTTP status.
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
        /// The error code, such as "gateway.session-busy".
        public let description: String
        let status: Int

        private init(_ name: String, _ status: Int) {
            description = "gateway.\(name)"
            self.status = status
        }

        /// Parts of the request contradict each other.
        public static let invalid = Kind("invalid-request", 400)
        /// The request has no messages at all.
        public static let missingMessages = Kind("missing-messages", 400)
        /// The request has nothing new for the session.
        public static let missingUserMessage = Kind("missing-user-message", 400)
        /// No provider has the model, or it cannot do what was asked.
        public static let modelNotFound = Kind("model-not-found", 404)
        /// Several providers have a model of this name.
        public static let modelAmbiguous = Kind("model-ambiguous", 400)
        /// The provider exists but cannot list its models now.
        public static let modelUnavailable = Kind("model-unavailable", 503)
        /// No project has the id in the request.
        public static let projectNotFound = Kind("project-not-found", 404)
        /// No session has the id in the request.
        public static let sessionNotFound = Kind("session-not-found", 404)
        /// There is no such approval request, or it was answered or has expired.
        public static let approvalNotFound = Kind("approval-not-found", 404)
        /// A turn of the session is running, here or in another process.
        public static let sessionBusy = Kind("session-busy", 409)
        /// The project's folder cannot be opened.
        public static let folderMissing = Kind("folder-missing", 409)
        /// The budget of a session, a project, a client's token or a day is used up.
        public static let budgetExceeded = Kind("budget-exceeded", 429)
        /// The gateway is being shut down.
        public static let closing = Kind("closing", 503)

        /// A selected tool does not exist.
        public static let unknownTool = Kind("unknown-tool", 404)
        /// A source cannot list its tools.
        public static let toolsUnavailable = Kind("tools-unavailable", 503)

        // Reasons for which a turn ends before the model is done.

        /// The token that was used for the turn was revoked or has expired.
        public static let tokenEnded = Kind("token-ended", 401)
        /// The turn took longer than `TurnSettings.turnTime`.
        public static let timeLimit = Kind("time-limit", 504)
        /// The model requested more calls after the last of `TurnSettings.rounds`.
        public static let roundLimit = Kind("round-limit", 429)
        /// The turn wrote as many tokens as `TurnSettings.outputTokens` allows.
        public static let outputLimit = Kind("output-limit", 429)
        /// The turn cost as much as `TurnSettings.cost` allows.
        public static let costLimit = Kind("cost-limit", 429)
    }

    static func tokenEnded(_ client: TurnClient?) -> GatewayError {
        GatewayError(
            .tokenEnded,
            "the token \(PlainText.escape(client?.name ?? "").quoted) was revoked or has expired, so its turn "
                + "was ended; what was said is kept")
    }

    static func timeOver(_ limit: Duration) -> GatewayError {
        GatewayError(
            .timeLimit,
            "the turn took longer than \(limit.words) and was ended; what was said is kept, so send 'go on' "
                + "to continue")
    }

    static func needsProject(_ model: String) -> GatewayError {
        GatewayError(
            .invalid, "\(model) works with its own tools in a project's folder; name a project in the request",
            param: "project_id")
    }

    static func noSession(_ id: String) -> GatewayError {
        GatewayError(
            .sessionNotFound,
            "there is no session \(PlainText.escape(id).quoted); 'martlet gateway session list' lists them",
            param: "session_id")
    }
}
