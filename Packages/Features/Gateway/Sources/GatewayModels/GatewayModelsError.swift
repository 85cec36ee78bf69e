public import Capabilities

/// Why a model of the gateway's own did not answer.
public struct GatewayModelsError: Failure {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// A sentence for a person: what happened and what to do next.
    public let message: String
    /// What was underneath.
    public let cause: (any Error)?

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .unknownModel: .usage
        case .claudeMissing: .unreachable
        default: .failed
        }
    }

    init(_ kind: Kind, _ message: String, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }

    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: `gateway.unknown-model`.
        public let description: String

        private init(_ name: String) {
            description = "gateway.\(name)"
        }

        /// The offline model was asked for by another name.
        public static let unknownModel = Kind("unknown-model")
        /// The `claude` command cannot be started.
        public static let claudeMissing = Kind("claude-missing")
        /// It ended without saying how its turn went.
        public static let claudeCrashed = Kind("claude-crashed")
        /// It says itself that the turn failed.
        public static let claudeFailed = Kind("claude-failed")
        /// It does not know the session that was to be continued.
        public static let claudeSession = Kind("claude-session")
    }
}
