public import Capabilities

/// Why a thread could not be started or a descriptor could not be watched.
public struct LoopError: Failure {
    /// The stable reason, to compare with `==`.
    public let kind: Kind
    /// What happened and what to do next.
    public let message: String
    /// The system's error number, or 0 for an error of this package.
    public let errno: Int32

    public var code: String { kind.description }

    public var exit: ExitCode { .toolFailed }

    init(_ kind: Kind, _ message: String, errno: Int32 = 0) {
        self.kind = kind
        self.message = message
        self.errno = errno
    }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<LoopError>
}

/// The reasons of a `LoopError`.
extension FailureKind<LoopError> {
    /// The system refused; see `errno`.
    public static var system: Self { "loop.system" }
    /// The descriptor is of a kind that is always ready, such as a regular file or a folder.
    public static var notWatchable: Self { "loop.not-watchable" }
    /// The loop was already stopped.
    public static var stopped: Self { "loop.stopped" }
}

extension LoopError {
    static func system(_ action: String, errno number: Int32) -> LoopError {
        LoopError(.system, "cannot \(action): \(SystemError(number))", errno: number)
    }
}
