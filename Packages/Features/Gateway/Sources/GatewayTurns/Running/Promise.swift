import Synchronization

/// A value that another task sets later; one task can wait for it.
final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case settled(Value)
    }

    private let state = Mutex(State.open)

    /// Sets the value. Only the first value counts.
    func settle(_ value: Value) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .open:
                state = .settled(value)
                return nil
            case .awaited(let continuation):
                state = .settled(value)
                return continuation
            case .settled: return nil
            }
        }
        waiting?.resume(returning: value)
    }

    var isSettled: Bool {
        state.withLock { state in if case .settled = state { true } else { false } }
    }

    /// Waits for the value. It ends at once when the waiting task is cancelled; another task may wait then.
    func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let settled = state.withLock { state -> Result<Value, any Error>? in
                    if case .settled(let value) = state { return .success(value) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state = .awaited(continuation)
                    return nil
                }
                if let settled { continuation.resume(with: settled) }
            }
        } onCancel: {
            let waiting = state.withLock { state -> CheckedContinuation<Value, any Error>? in
                guard case .awaited(let continuation) = state else { return nil }
                state = .open
                return continuation
            }
            waiting?.resume(throwing: CancellationError())
        }
    }
}

/// Runs work that must be done even in a cancelled task, such as storing messages. Its new task is awaited here, so
/// that nothing outlives the caller.
func shielded<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await Task { try await work() }.value
}
