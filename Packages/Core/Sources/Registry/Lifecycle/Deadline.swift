/// Ends work when its time is over, whether or not it listens.
struct Deadline: Sendable {
    let limit: Duration
    /// How long work that was cancelled may take to clean up before nobody waits for it any more.
    var grace: Duration = .seconds(2)
    /// Whether that also holds for work whose caller was cancelled; work that ends its own parts in time is waited for.
    var abandonsCancelled = false
    let clock: any Clock<Duration>

    private enum Event<Value: Sendable>: Sendable {
        case ended(Result<Value, any Error>)
        case over
        case cancelled
        case abandoned
    }

    /// The work's result.
    ///
    /// - Throws: `SessionError.timedOut` after the limit, also where the work cannot be cancelled: it is abandoned then,
    ///   because a run that hangs for ever is worse. Where the caller was cancelled the same is a `CancellationError`.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let (events, continuation) = AsyncStream<Event<Value>>.makeStream()
        // These tasks end below; a task group would wait for work that never ends.
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
        // A task of its own, since a cancelled one would stop listening before the work has cleaned up.
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

    /// Owned by whoever cancels it when there is nothing to wait for any more.
    private func alarm(after time: Duration, _ ring: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task { [clock] in
            do { try await clock.sleep(for: time) } catch { return }
            ring()
        }
    }
}
