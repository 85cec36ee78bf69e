/// Ends work when its time is over, whether or not it listens.
struct Deadline: Sendable {
    let limit: Duration
    /// How long work that was cancelled may take to clean up before nobody waits for it any more.
    var grace: Duration = .seconds(2)
    let clock: any Clock<Duration>

    private enum Event<Value: Sendable>: Sendable {
        case ended(Result<Value, any Error>)
        case over
        case abandoned
    }

    /// The work's result.
    ///
    /// - Throws: `HostError.timedOut` after the limit, also where the work cannot be cancelled: it is abandoned then,
    ///   because a run that hangs for ever is worse.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let (events, continuation) = AsyncStream<Event<Value>>.makeStream()
        // These tasks end below; a task group would wait for work that never ends.
        let task = Task {
            do { continuation.yield(.ended(.success(try await work()))) } catch {
                continuation.yield(.ended(.failure(error)))
            }
        }
        let alarm = Task { [limit, grace, clock] in
            try await clock.sleep(for: limit)
            continuation.yield(.over)
            task.cancel()
            try await clock.sleep(for: grace)
            continuation.yield(.abandoned)
        }
        defer {
            task.cancel()
            alarm.cancel()
        }
        // A task of its own, since a cancelled one would stop listening before the work has cleaned up.
        let listener = Task {
            var isOver = false
            for await event in events {
                switch event {
                case .ended(let result) where !isOver: return try result.get()
                case .over: isOver = true
                case .ended, .abandoned: throw HostError.timedOut(limit)
                }
            }
            throw CancellationError()
        }
        return try await withTaskCancellationHandler {
            try await listener.value
        } onCancel: {
            task.cancel()
        }
    }
}
