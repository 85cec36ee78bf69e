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
    await bounded { settle in
        Task { settle(await result(of: work)) }
    } settingAlarm: { ring in
        guard let limit else { return {} }
        let alarm = Task {
            // An interrupted sleep means that the race is over.
            do { try await clock.sleep(for: limit) } catch { return }
            ring()
        }
        return { alarm.cancel() }
    }
}

/// The same for work that comes often: all limits share one sleeping task.
public func bounded<Value: Sendable>(
    by limit: Duration, on timer: SharedTimer, _ work: @escaping @Sendable () async throws -> Value
) async -> TimedOutcome<Value> {
    await bounded { settle in
        Task { settle(await result(of: work)) }
    } settingAlarm: { ring in
        let number = timer.set(after: limit, ring)
        return { timer.remove(number) }
    }
}

private func result<Value>(of work: () async throws -> Value) async -> Result<Value, any Error> {
    do { return .success(try await work()) } catch { return .failure(error) }
}

/// - Parameters:
///   - begin: begins the work, which settles how it ended.
///   - setAlarm: gets what ends the wait, and returns what takes the alarm back.
private func bounded<Value: Sendable>(
    _ begin: (_ settle: @escaping @Sendable (Result<Value, any Error>) -> Void) -> Task<Void, Never>,
    settingAlarm setAlarm: (_ ring: @escaping @Sendable () -> Void) -> () -> Void
) async -> TimedOutcome<Value> {
    if Task.isCancelled { return .stopped }
    let first = Promise<TimedOutcome<Value>>()
    // It is cancelled below. A task group would wait for work that never ends.
    let worker = begin { first.settle(.ended($0)) }
    // The work may have ended by now.
    let removeAlarm = first.isSettled ? {} : setAlarm { first.settle(.timedOut) }
    defer {
        worker.cancel()
        removeAlarm()
    }
    // Only a cancelled wait throws.
    do { return try await first.value() } catch { return .stopped }
}
