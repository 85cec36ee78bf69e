import Synchronization

/// A value that threads change and tests wait for without polling.
final class Watched<Value: Sendable>: Sendable {
    private struct Watcher {
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Value?, Never>
    }

    private struct State {
        var value: Value
        var watchers: [Int: Watcher] = [:]
        var next = 0
    }

    private let state: Mutex<State>

    init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    var value: Value { state.withLock { $0.value } }

    /// Changes the value and wakes the waiters whose condition it now meets.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        let (result, woken, value) = state.withLock { state -> (Result, [CheckedContinuation<Value?, Never>], Value?) in
            let result = body(&state.value)
            guard !state.watchers.isEmpty else { return (result, [], nil) }
            let met = state.watchers.filter { $0.value.condition(state.value) }
            for id in met.keys { state.watchers[id] = nil }
            return (result, met.values.map(\.continuation), state.value)
        }
        for continuation in woken { continuation.resume(returning: value) }
        return result
    }

    /// Returns the first value that meets the condition; throws `CancellationError` if the task is cancelled first.
    func first(where condition: @escaping @Sendable (Value) -> Bool) async throws -> Value {
        let id = newID()
        let value = await withTaskCancellationHandler {
            await wait(id, for: condition, endsWhenCancelled: true)
        } onCancel: {
            let watcher = state.withLock { $0.watchers.removeValue(forKey: id) }
            watcher?.continuation.resume(returning: nil)
        }
        guard let value else { throw CancellationError() }
        return value
    }

    /// Waits for a value that meets the condition, also in a cancelled task.
    func reach(_ condition: @escaping @Sendable (Value) -> Bool) async {
        _ = await wait(newID(), for: condition, endsWhenCancelled: false)
    }

    private func newID() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next
        }
    }

    private func wait(
        _ id: Int, for condition: @escaping @Sendable (Value) -> Bool, endsWhenCancelled: Bool
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let result: Value?? = state.withLock { state in
                if condition(state.value) { return .some(state.value) }
                if endsWhenCancelled, Task.isCancelled { return .some(nil) }
                state.watchers[id] = Watcher(condition: condition, continuation: continuation)
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}
