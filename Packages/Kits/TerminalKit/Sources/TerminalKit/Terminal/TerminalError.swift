public import Capabilities

/// Why a terminal could not be used.
public struct TerminalError: Failure, Hashable {
    /// The kind of failure, stable for programs.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// There is no terminal to ask on.
        case notATerminal = "terminal.not-a-terminal"
        /// The terminal, or what stands in for it, cannot show a full screen.
        case noScreen = "terminal.no-screen"
        /// The process is in the background, and the terminal belongs to another job.
        case inBackground = "terminal.in-background"
        /// Another question is open on the terminal.
        case busy = "terminal.busy"
        /// The user pressed Ctrl-C, or a signal took the terminal away.
        case interrupted = "terminal.interrupted"
        /// The surrounding task was cancelled.
        case cancelled = "terminal.cancelled"
        /// The line or the text is longer than the limit.
        case tooLong = "terminal.line-too-long"
        /// What should be shown is no picture that a terminal takes.
        case noPicture = "terminal.no-picture"
        /// The system refused an operation; see `errno`.
        case system = "terminal.system"
    }

    /// The kind of failure.
    public let kind: Kind
    /// What happened and what to do next, for the user.
    public let message: String
    /// The system's error number, if there is one.
    public let errno: Int32?

    init(_ kind: Kind, _ message: String, errno: Int32? = nil) {
        self.kind = kind
        self.message = message
        self.errno = errno
    }

    public var code: String { kind.rawValue }

    public var exit: ExitCode {
        switch kind {
        case .interrupted, .cancelled: .interrupted
        case .noScreen, .noPicture: .usage
        case .notATerminal, .inBackground: .unanswered
        case .busy, .tooLong, .system: .failed
        }
    }
}
