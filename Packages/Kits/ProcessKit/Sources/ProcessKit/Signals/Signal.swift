import Glibc

/// A signal to a process.
public struct Signal: Hashable, Sendable {
    /// The number that the system uses.
    public let rawValue: Int32

    /// A signal by its number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Ctrl-C.
    public static let interrupt = Signal(rawValue: SIGINT)
    /// Please end.
    public static let terminate = Signal(rawValue: SIGTERM)
    /// The terminal is gone.
    public static let hangUp = Signal(rawValue: SIGHUP)
    /// Ctrl-\.
    public static let quit = Signal(rawValue: SIGQUIT)
    /// What each program takes as it likes, and what ends those that do not.
    public static let user1 = Signal(rawValue: SIGUSR1)
    public static let user2 = Signal(rawValue: SIGUSR2)
    /// A time is over that somebody has set for this process.
    public static let alarm = Signal(rawValue: SIGALRM)
    /// Those that ask a process to end and let it clean up.
    public static let endings: [Signal] = [.interrupt, .terminate, .hangUp, .quit, .user1, .user2, .alarm]
    /// The end, without a chance to clean up.
    public static let kill = Signal(rawValue: SIGKILL)
    /// The terminal changed its size.
    public static let windowChange = Signal(rawValue: SIGWINCH)
}
