import Synchronization

/// What has become of the steps of a run, for its report and for what has to go on after a stop.
final class RunRecord: Sendable {
    private let state = Mutex(State())

    private struct State {
        var updates: [StepUpdate] = []
        var outcomes: [String: StepOutcome] = [:]
        var hasLost = false
    }

    var updates: [StepUpdate] { state.withLock { $0.updates } }

    func outcome(of key: String) -> StepOutcome? { state.withLock { $0.outcomes[key] } }

    /// Whether this is the first time that something cannot be written down.
    func isFirstLoss() -> Bool { state.withLock { !exchange(&$0.hasLost, with: true) } }

    /// - Parameter outcome: with what secrets there are in its result, as a value for steps of the end.
    func add(_ update: StepUpdate, _ outcome: StepOutcome) {
        state.withLock { state in
            state.outcomes[update.key] = outcome
            state.updates.append(update)
        }
    }
}
