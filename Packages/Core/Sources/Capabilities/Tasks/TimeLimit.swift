/// The result of work, or nil if it takes longer than the limit. Without a limit, it is awaited.
///
/// Work whose time is over is cancelled, as is all of it when the waiting task is cancelled; then its error or
/// `CancellationError` is thrown. The work is awaited in any case, so it must react to cancellation.
public func withTimeLimit<Value: Sendable>(
    _ limit: Duration?, on clock: any Clock<Duration>, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    guard let limit else { return try await work() }
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await clock.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}
