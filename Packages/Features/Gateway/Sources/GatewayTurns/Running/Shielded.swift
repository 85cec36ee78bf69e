/// Does what must be done even where the task was cancelled, such as storing what was said. The task made for it is
/// awaited here, so that nothing outlives the caller.
func shielded<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await Task { try await work() }.value
}

/// Does something when work is not done in time. The alarm is cancelled as soon as it is.
func withAlarm<Value: Sendable>(
    after limit: Duration, on clock: any Clock<Duration>, ring: @escaping @Sendable () -> Void,
    _ work: () async throws -> Value
) async rethrows -> Value {
    let alarm = Task {
        // A sleep that is cut short means that the work is done.
        do { try await clock.sleep(for: limit) } catch { return }
        ring()
    }
    defer { alarm.cancel() }
    return try await work()
}
