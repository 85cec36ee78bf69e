import Capabilities
import JSON

/// Why the gateway could not be started, found or stopped.
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
        /// Another gateway runs with the same data folder.
        case running = "gateway.running"
        /// No gateway is running.
        case down = "gateway.down"
        /// A gateway is running but does not respond.
        case unresponsive = "gateway.unresponsive"
        /// The gateway did not stop in time.
        case stuck = "gateway.stuck"
        /// A setting or argument is invalid, or settings contradict each other.
        case settings = "gateway.settings"
    }
}
