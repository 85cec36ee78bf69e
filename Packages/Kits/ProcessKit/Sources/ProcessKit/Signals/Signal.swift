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
    /// The end, without a chance to clean up.
    public static let kill = Signal(rawValue: SIGKILL)
    /// The terminal changed its size.
    public static let windowChange = Signal(rawValue: SIGWINCH)
}
