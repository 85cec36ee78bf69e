/// How a child process ended.
public enum ChildStatus: Hashable, Sendable {
    /// It ended by itself with this code.
    case exited(Int32)
    /// A signal ended it.
    case signalled(Int32)

    /// The code as a shell shows it: 128 and the signal's number for a child that a signal ended.
    public var code: Int32 {
        switch self {
        case .exited(let code): code
        case .signalled(let number): 128 + number
        }
    }

    /// Whether it ended with code 0.
    public var isSuccess: Bool { self == .exited(0) }
}
