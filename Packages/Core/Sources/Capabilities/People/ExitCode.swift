/// How a command ended, the same for every action and every frontend.
public struct ExitCode: RawRepresentable, Sendable, Hashable {
    public let rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Everything was done.
    public static let done = ExitCode(rawValue: 0)
    /// It failed in a way that no other code names.
    public static let failed = ExitCode(rawValue: 1)
    /// The words, the settings or the bundle were wrong.
    public static let usage = ExitCode(rawValue: 2)
    /// A credential or trust is missing or was refused.
    public static let denied = ExitCode(rawValue: 3)
    /// Something was not reached: name, connection, transport, time-out.
    public static let unreachable = ExitCode(rawValue: 4)
    /// The tool or remote command that the action ran has failed.
    public static let toolFailed = ExitCode(rawValue: 5)
    /// A value, passphrase or approval was needed and nobody was there to answer.
    public static let unanswered = ExitCode(rawValue: 6)
    /// Interrupted from the keyboard.
    public static let interrupted = ExitCode(rawValue: 130)
    /// Asked to end by a signal.
    public static let terminated = ExitCode(rawValue: 143)
}
