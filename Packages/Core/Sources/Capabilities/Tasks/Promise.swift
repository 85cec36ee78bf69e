public import Synchronization

/// A value, or an error, that another task sets later. Any number of tasks can wait for it, and a wait that is
/// cancelled ends at once.
public final class Promise<Value: Sendable>: Sendable {
    // Everything is inlinable, so that each module has it for its own types: looking types up while it runs would cost more
    // than all else here.
    @usableFromInline
    struct State {
        @usableFromInline var result: Result<Value, any Error>?
        @usableFromInline var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
        @usableFromInline var next = 0

        @inlinable init() {}
    }

    @usableFromInline let state: Mutex<State>

    /// A promise without a value.
    @inlinable
    public init() {
        state = Mutex(State())
    }

    @inlinable deinit {}

    /// Waits for the value. Throws the error that was set instead, or `CancellationError` when the waiting task is
    /// cancelled before anything is set.
    @inlinable
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
    @inlinable
    public func settle(_ value: Value) {
        settle(with: .success(value))
    }

    /// Gives the value or the error to all current and future waiters. Only the first call counts.
    @inlinable
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
    @inlinable public var isSettled: Bool { state.withLock { $0.result != nil } }

    /// The current number of waiters.
    @inlinable public var waiters: Int { state.withLock { $0.waiting.count } }
}
