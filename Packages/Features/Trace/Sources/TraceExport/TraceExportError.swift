public import Capabilities
import JSON

/// Why spans could not be sent to a collector.
public struct TraceExportError: Failure {
    /// The stable reason; compare it with `==`.
    public let kind: Kind
    /// What happened and what to do next, without a final stop.
    public let message: String
    /// How long the collector has asked to wait.
    public let retryAfter: Duration?
    public let cause: (any Error)?

    public var code: String { kind.description }
    public var exit: ExitCode {
        switch kind {
        case .unreachable: .unreachable
        case .configuration, .noCollector: .usage
        default: .failed
        }
    }

    /// An error with what to do next.
    public init(_ kind: Kind, _ message: String, retryAfter: Duration? = nil, cause: (any Error)? = nil) {
        (self.kind, self.message, self.retryAfter, self.cause) = (kind, message, retryAfter, cause)
    }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<TraceExportError>
}

/// The reasons of a `TraceExportError`.
extension FailureKind<TraceExportError> {
    /// No collector is set up.
    public static var noCollector: Self { "trace.no-collector" }
    /// What is set up cannot be used.
    public static var configuration: Self { "trace.collector-settings" }
    /// The collector cannot be reached at the moment, or asks to wait.
    public static var unreachable: Self { "trace.collector-unreachable" }
    /// The collector has refused what it was sent.
    public static var refused: Self { "trace.collector-refused" }
}
