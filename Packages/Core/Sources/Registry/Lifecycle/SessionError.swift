public import Capabilities

/// Why a session does not do an action.
public enum SessionError: Failure, Hashable {
    case timedOut(Duration)
    case featureFailed(String, why: String)
    case closed

    public var code: String {
        switch self {
        case .timedOut: "host.timed-out"
        case .featureFailed: "host.feature-failed"
        case .closed: "host.closed"
        }
    }

    public var exit: ExitCode {
        switch self {
        case .timedOut: .unreachable
        case .featureFailed, .closed: .failed
        }
    }

    public var message: String {
        switch self {
        case .timedOut(let limit): "it was not done within \(limit.words); give it more time with --timeout"
        case .featureFailed(let id, let why): "the feature \(id) did not start, so this cannot be done: \(why)"
        case .closed: "the session is closed; open another one"
        }
    }
}
