import Glibc

/// Why a child process could not be started, used or waited for.
public struct ProcessError: Error, Sendable, CustomStringConvertible {
    /// The stable reason, to be compared with `==`.
    public let code: Code
    /// A sentence for a person: what happened and what to do next.
    public let message: String
    /// The system's error number, or 0 when this package refused by itself.
    public let errno: Int32

    /// The sentence of `message`.
    public var description: String { message }

    init(_ code: Code, _ message: String, errno: Int32 = 0) {
        self.code = code
        self.message = message
        self.errno = errno
    }

    /// A stable reason for a failure; new ones may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: "process.not-found".
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// No such program, in PATH or at the path given.
        public static let notFound = Code("process.not-found")
        /// The file is there, but it is not a program that this user can run.
        public static let notExecutable = Code("process.not-executable")
        /// The working directory is missing or is none.
        public static let workingDirectory = Code("process.working-directory")
        /// An argument or variable that cannot be passed to a program.
        public static let invalid = Code("process.invalid")
        /// The system refused to start or to watch a process; `errno` tells why.
        public static let system = Code("process.system")
        /// More output than the caller allowed.
        public static let outputTooLarge = Code("process.output-too-large")
        /// A line longer than the caller allowed.
        public static let lineTooLong = Code("process.line-too-long")
        /// The child took longer than the caller allowed.
        public static let timedOut = Code("process.timed-out")
        /// The child reads no more input, or its input was closed.
        public static let inputClosed = Code("process.input-closed")
        /// The pipe was not asked for, or the child's scope has ended.
        public static let notConnected = Code("process.not-connected")
        /// Another part of the program handles signals already.
        public static let signalsInUse = Code("process.signals-in-use")
    }
}

extension ProcessError {
    static func system(_ action: String, errno number: Int32) -> ProcessError {
        // strerror is safe here: glibc keeps its text in thread-local storage.
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "system error \(number)"
        return ProcessError(.system, "cannot \(action): \(reason)", errno: number)
    }
}
