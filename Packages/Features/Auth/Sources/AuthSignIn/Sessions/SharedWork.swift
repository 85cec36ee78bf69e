import Synchronization

/// The result of work that goes on whoever waits for it: a wait can be cancelled, the work cannot.
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
                    // Under the lock, so that a cancellation before this finds nobody and one after it somebody.
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

    /// Gives everybody the result, those who wait and those who come later; only the first counts.
    func finish(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            guard state.result == nil else { return [CheckedContinuation<Value, any Error>]() }
            state.result = result
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// How many wait now.
    var waiters: Int { state.withLock { $0.waiting.count } }
}
