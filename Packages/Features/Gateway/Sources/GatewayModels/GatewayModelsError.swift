public import Capabilities

/// Why one of the gateway's own models did not answer.
public struct GatewayModelsError: Failure {
    /// The stable reason; compare it with `==`.
    public let kind: Kind
    /// A message for the user: what happened and what to do next.
    public let message: String
    /// The underlying error.
    public let cause: (any Error)?

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .unknownModel: .usage
        case .claudeMissing, .claudeTooOld: .unreachable
        case .claudeDenied: .denied
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
        /// The error code, such as `gateway.unknown-model`.
        public let description: String

        private init(_ name: String) {
            description = "gateway.\(name)"
        }

        /// The offline model has no model of that name.
        public static let unknownModel = Kind("unknown-model")
        /// The `claude` command cannot be started.
        public static let claudeMissing = Kind("claude-missing")
        /// The command does not support the protocol for permission requests.
        public static let claudeTooOld = Kind("claude-too-old")
        /// The command's service refused its key or sign-in.
        public static let claudeDenied = Kind("claude-denied")
        /// The command exited without a final report.
        public static let claudeCrashed = Kind("claude-crashed")
        /// The command reported that the turn failed.
        public static let claudeFailed = Kind("claude-failed")
        /// The command does not know the session to resume.
        public static let claudeSession = Kind("claude-session")
    }
}

extension GatewayModelsError {
    static func claudeTooOld(_ words: String) -> GatewayModelsError {
        let words = words.isEmpty ? "" : ": \(PlainText.escape(String(words.prefix(200))))"
        return GatewayModelsError(
            .claudeTooOld,
            "this version of claude cannot ask before it uses a tool\(words); update it with 'claude update'")
    }

    static func denied(_ words: String) -> GatewayModelsError {
        GatewayModelsError(
            .claudeDenied,
            "claude's service refused its key or sign-in (\(PlainText.escape(String(words.prefix(80)))))"
                + "; run claude once to sign in, or fix the key in ~/.claude/settings.json")
    }
}
