/// The progress of a task, as terminals show it in a tab or in the task bar (OSC 9;4).
public enum TerminalProgress: Sendable, Hashable {
    /// Nothing is shown.
    case none
    /// How much is done.
    case percent(Int)
    /// The task has failed.
    case failed
    /// It is not known how much is done.
    case indeterminate

    var sequence: [UInt8] {
        let parameters =
            switch self {
            case .none: "0"
            case .percent(let number): "1;\(min(100, max(0, number)))"
            case .failed: "2"
            case .indeterminate: "3"
            }
        return Array("\u{1B}]9;4;\(parameters)\u{1B}\\".utf8)
    }
}
