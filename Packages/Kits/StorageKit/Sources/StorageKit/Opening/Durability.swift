/// What a finished transaction survives. A killed process loses nothing with either.
public enum Durability: Sendable {
    /// A loss of power too: each transaction waits for the disk. For settings, pins, tokens.
    case full
    /// After a loss of power the last transactions may be missing, never half of one. For history and traces.
    case normal

    var pragma: SQL {
        switch self {
        case .full: "PRAGMA synchronous = FULL"
        case .normal: "PRAGMA synchronous = NORMAL"
        }
    }
}
