import Synchronization

/// The result of work that continues regardless of who waits for it: a wait can be cancelled, the work cannot.
final class SharedWork<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    /// Waits for the result.
    func value() async throws -> Value {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    if let result = state.result { return result }
                    // Checked under the lock: an earlier cancellation finds no waiter, a later one finds this one.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting[id] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiting.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// Gives the result to all current and future waiters. Only the first call counts.
    func finish(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            guard state.result == nil else { return [CheckedContinuation<Value, any Error>]() }
            state.result = result
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// The current number of waiters.
    var waiters: Int { state.withLock { $0.waiting.count } }
}
