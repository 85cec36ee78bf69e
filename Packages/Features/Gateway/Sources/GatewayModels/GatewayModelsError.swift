public import Capabilities

/// Why the `claude` command did not answer.
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
    public typealias Kind = FailureKind<GatewayModelsError>
}

/// The reasons of a `GatewayModelsError`.
extension FailureKind<GatewayModelsError> {
    /// The `claude` command cannot be started.
    public static var claudeMissing: Self { "gateway.claude-missing" }
    /// The command does not support the protocol for permission requests.
    public static var claudeTooOld: Self { "gateway.claude-too-old" }
    /// The command's service refused its key or sign-in.
    public static var claudeDenied: Self { "gateway.claude-denied" }
    /// The command exited without a final report.
    public static var claudeCrashed: Self { "gateway.claude-crashed" }
    /// The command reported that the turn failed.
    public static var claudeFailed: Self { "gateway.claude-failed" }
    /// The command does not know the session to resume.
    public static var claudeSession: Self { "gateway.claude-session" }
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
