/// Ends work when its time is over, even if it does not react to cancellation.
struct Deadline: Sendable {
    let limit: Duration
    /// How long cancelled work may take to clean up before it is abandoned.
    var grace: Duration = .seconds(2)
    /// Whether the same applies if the caller is cancelled. Otherwise the cancelled work is awaited.
    var abandonsCancelled = false
    let clock: any Clock<Duration>

    private enum Event<Value: Sendable>: Sendable {
        case ended(Result<Value, any Error>)
        case over
        case cancelled
        case abandoned
    }

    /// Returns the work's result.
    ///
    /// - Throws: `SessionError.timedOut` after the limit. Work that does not react is abandoned, because a run that
    ///   hangs for ever is worse. If the caller was cancelled, throws `CancellationError`.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let (events, continuation) = AsyncStream<Event<Value>>.makeStream()
        // These tasks are ended below; a task group would wait for work that never ends.
        let task = Task {
            do { continuation.yield(.ended(.success(try await work()))) } catch {
                continuation.yield(.ended(.failure(error)))
            }
        }
        let alarm = alarm(after: limit) { continuation.yield(.over) }
        defer {
            task.cancel()
            alarm.cancel()
        }
        // A separate task, because a cancelled one would stop listening before the work has cleaned up.
        let listener = Task {
            var isOver = false
            var patience: Task<Void, Never>?
            defer { patience?.cancel() }
            for await event in events {
                switch event {
                case .ended(let result) where !isOver: return try result.get()
                case .ended, .abandoned: throw isOver ? SessionError.timedOut(limit) : CancellationError()
                case .over, .cancelled:
                    if case .over = event { isOver = true }
                    task.cancel()
                    patience = patience ?? self.alarm(after: grace) { continuation.yield(.abandoned) }
                }
            }
            throw CancellationError()
        }
        return try await withTaskCancellationHandler {
            try await listener.value
        } onCancel: {
            if abandonsCancelled { continuation.yield(.cancelled) } else { task.cancel() }
        }
    }

    /// The caller owns the task and cancels it when it is no longer needed.
    private func alarm(after time: Duration, _ ring: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task { [clock] in
            do { try await clock.sleep(for: time) } catch { return }
            ring()
        }
    }
}
