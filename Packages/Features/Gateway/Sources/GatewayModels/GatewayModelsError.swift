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
        /// The dotted form for programs: `gateway.unknown-model`.
        public let description: String

        private init(_ name: String) {
            description = "gateway.\(name)"
        }

        /// The offline model was asked for by another name.
        public static let unknownModel = Kind("unknown-model")
        /// The `claude` command cannot be started.
        public static let claudeMissing = Kind("claude-missing")
        /// It does not know the protocol by which it asks before it uses a tool.
        public static let claudeTooOld = Kind("claude-too-old")
        /// Its service does not accept its key or sign-in.
        public static let claudeDenied = Kind("claude-denied")
        /// It ended without saying how its turn went.
        public static let claudeCrashed = Kind("claude-crashed")
        /// It says itself that the turn failed.
        public static let claudeFailed = Kind("claude-failed")
        /// It does not know the session that was to be continued.
        public static let claudeSession = Kind("claude-session")
    }
}

extension GatewayModelsError {
    static func claudeTooOld(_ words: String) -> GatewayModelsError {
        let words = words.isEmpty ? "" : ": \(PlainText.escape(String(words.prefix(200))))"
        return GatewayModelsError(
            .claudeTooOld,
            "this version of claude cannot be told to ask before it uses a tool\(words); update it (claude update)")
    }

    static func denied(_ words: String) -> GatewayModelsError {
        GatewayModelsError(
            .claudeDenied,
            "the service of claude does not accept its key or sign-in (\(PlainText.escape(String(words.prefix(80)))))"
                + "; sign in by running claude once, or mend the key in ~/.claude/settings.json")
    }
}
