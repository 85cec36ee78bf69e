import Capabilities
import JSON

/// Why the gateway could not be started, found or ended.
struct ServingError: Failure {
    let kind: Kind
    let message: String
    let cause: (any Error)?

    var code: String { kind.rawValue }

    var exit: ExitCode {
        switch kind {
        case .running, .settings: .usage
        case .down, .unresponsive: .unreachable
        case .stuck: .failed
        }
    }

    init(_ kind: Kind, _ message: String, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }

    enum Kind: String, Sendable {
        /// Another one runs with the same data.
        case running = "gateway.running"
        /// None runs.
        case down = "gateway.down"
        /// One runs and does not answer.
        case unresponsive = "gateway.unresponsive"
        /// It did not end.
        case stuck = "gateway.stuck"
        /// Settings that contradict each other.
        case settings = "gateway.settings"
    }
}
