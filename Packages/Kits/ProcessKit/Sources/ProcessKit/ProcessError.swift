public import Capabilities
import Glibc
import LoopKit

/// Why a child process could not be started, used or waited for.
public struct ProcessError: Failure {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// A sentence for a person: what happened and what to do next.
    public let message: String
    /// The system's error number, or 0 when this package refused by itself.
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
    /// No such program, in PATH or at the path given.
    public static var notFound: Self { "process.not-found" }
    /// The file is there, but it is not a program that this user can run.
    public static var notExecutable: Self { "process.not-executable" }
    /// The working directory is missing or is none.
    public static var workingDirectory: Self { "process.working-directory" }
    /// An argument or variable that cannot be passed to a program.
    public static var invalid: Self { "process.invalid" }
    /// The system refused to start or to watch a process; `errno` tells why.
    public static var system: Self { "process.system" }
    /// The rules that a child was to obey could not be applied, so that it was not started.
    public static var notRestricted: Self { "process.not-restricted" }
    /// More output than the caller allowed.
    public static var outputTooLarge: Self { "process.output-too-large" }
    /// A line longer than the caller allowed.
    public static var lineTooLong: Self { "process.line-too-long" }
    /// The child took longer than the caller allowed.
    public static var timedOut: Self { "process.timed-out" }
    /// The child reads no more input, or its input was closed.
    public static var inputClosed: Self { "process.input-closed" }
    /// The pipe was not asked for, or the child's scope has ended.
    public static var notConnected: Self { "process.not-connected" }
    /// Another part of the program handles signals already.
    public static var signalsInUse: Self { "process.signals-in-use" }
}

extension ProcessError {
    static func system(_ action: String, _ kind: Kind = .system, errno number: Int32) -> ProcessError {
        // strerror is safe here: glibc keeps its text in thread-local storage.
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "system error \(number)"
        return ProcessError(kind, "cannot \(action): \(reason)", errno: number)
    }

    /// What kept a child or a signal from being watched.
    static func watching(_ error: LoopError) -> ProcessError {
        ProcessError(.system, error.message, errno: error.errno)
    }
}
