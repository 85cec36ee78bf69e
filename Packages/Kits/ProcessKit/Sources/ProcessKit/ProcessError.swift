public import Capabilities
import LoopKit

/// Why a child process could not be started, used or waited for.
public struct ProcessError: Failure {
    /// The stable reason, to compare with `==`.
    public let kind: Kind
    /// What happened and what to do next.
    public let message: String
    /// The system's error number, or 0 when the error is from this package.
    public let errno: Int32

    public var code: String { kind.description }

    public var exit: ExitCode { kind == .timedOut ? .unreachable : .toolFailed }

    init(_ kind: Kind, _ message: String, errno: Int32 = 0) {
        self.kind = kind
        self.message = message
        self.errno = errno
    }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<ProcessError>
}

/// The reasons of a `ProcessError`.
extension FailureKind<ProcessError> {
    /// There is no such program in PATH or at the given path.
    public static var notFound: Self { "process.not-found" }
    /// The file exists, but this user cannot run it as a program.
    public static var notExecutable: Self { "process.not-executable" }
    /// The working directory does not exist or is not a directory.
    public static var workingDirectory: Self { "process.working-directory" }
    /// An argument or variable that cannot be passed to a program.
    public static var invalid: Self { "process.invalid" }
    /// The system refused to start or to watch a process. `errno` has the reason.
    public static var system: Self { "process.system" }
    /// The restrictions of a child could not be applied, so it was not started.
    public static var notRestricted: Self { "process.not-restricted" }
    /// More output than the caller allowed.
    public static var outputTooLarge: Self { "process.output-too-large" }
    /// A line longer than the caller allowed.
    public static var lineTooLong: Self { "process.line-too-long" }
    /// The child took longer than the caller allowed.
    public static var timedOut: Self { "process.timed-out" }
    /// The child no longer reads its input, or the input was closed.
    public static var inputClosed: Self { "process.input-closed" }
    /// The command did not request this pipe, or the child's scope has ended.
    public static var notConnected: Self { "process.not-connected" }
    /// Another part of the program already handles signals.
    public static var signalsInUse: Self { "process.signals-in-use" }
}

extension ProcessError {
    static func system(_ action: String, _ kind: Kind = .system, errno number: Int32) -> ProcessError {
        ProcessError(kind, "cannot \(action): \(SystemError(number))", errno: number)
    }

    /// The error when a child or a signal cannot be watched.
    static func watching(_ error: LoopError) -> ProcessError {
        ProcessError(.system, error.message, errno: error.errno)
    }
}
