/// How work with a time limit ended.
public enum TimedOutcome<Value: Sendable>: Sendable {
    /// The work ended in time, with this value or error.
    case ended(Result<Value, any Error>)
    /// The limit passed first.
    case timedOut
    /// The waiting task was cancelled.
    case stopped
}

/// Waits for work until it ends, its time is over, or the waiting task is cancelled.
///
/// Unlike in `withTimeLimit`, work that ignores cancellation is then abandoned: a hanging tool must not block the turn, or
/// a user who has pressed stop. Without a limit, the work may take any time.
public func bounded<Value: Sendable>(
    by limit: Duration?, on clock: any Clock<Duration>, _ work: @escaping @Sendable () async throws -> Value
) async -> TimedOutcome<Value> {
    let first = Promise<TimedOutcome<Value>>()
    // Both tasks are cancelled below. A task group would wait for work that never ends.
    let worker = Task {
        do { first.settle(.ended(.success(try await work()))) } catch { first.settle(.ended(.failure(error))) }
    }
    let alarm = Task {
        guard let limit else { return }
        // An interrupted sleep means that the race is over.
        do { try await clock.sleep(for: limit) } catch { return }
        first.settle(.timedOut)
    }
    defer {
        worker.cancel()
        alarm.cancel()
    }
    // Only a cancelled wait throws.
    do { return try await first.value() } catch { return .stopped }
}
