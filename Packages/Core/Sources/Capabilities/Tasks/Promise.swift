import Synchronization

/// A value, or an error, that another task sets later. Any number of tasks can wait for it, and a wait that is
/// cancelled ends at once.
public final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    /// A promise without a value.
    public init() {}

    /// Waits for the value. Throws the error that was set instead, or `CancellationError` when the waiting task is
    /// cancelled before anything is set.
    public func value() async throws -> Value {
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

    /// Gives the value to all current and future waiters. Only the first call counts.
    public func settle(_ value: Value) {
        settle(with: .success(value))
    }

    /// Gives the value or the error to all current and future waiters. Only the first call counts.
    public func settle(with result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            guard state.result == nil else { return [CheckedContinuation<Value, any Error>]() }
            state.result = result
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// Whether the value or an error was set.
    public var isSettled: Bool { state.withLock { $0.result != nil } }

    /// The current number of waiters.
    public var waiters: Int { state.withLock { $0.waiting.count } }
}
