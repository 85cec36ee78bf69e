import Synchronization

/// What a turn is told from outside, and the way of what it tells.
final class TurnControl: Sendable {
    /// Why a turn was ended from outside.
    enum Reason: String, Sendable {
        case asked = "stopped"
        case vanished
        case timeLimit = "time-limit"
        /// The token with which it was asked for does not count any more.
        case tokenEnded = "token-ended"
        case closing
    }

    private struct State {
        var reason: Reason?
        var task: Task<Result<TurnReport, any Error>, Never>?
    }

    let feed = Feed()
    private let state = Mutex(State())

    /// The first reason counts.
    var reason: Reason? { state.withLock { $0.reason } }

    /// Takes the task that is ended by `stop`.
    func adopt(_ task: Task<Result<TurnReport, any Error>, Never>) {
        let isStopped = state.withLock { state in
            state.task = task
            return state.reason != nil
        }
        if isStopped { task.cancel() }
    }

    /// Ends the turn at once. What was said until then is kept.
    func stop(_ reason: Reason) {
        let task = state.withLock { state in
            state.reason = state.reason ?? reason
            return state.task
        }
        feed.hurry()
        task?.cancel()
    }
}
