/// Runs work that must be done even in a cancelled task, such as storing messages. Its new task is awaited here, so
/// that nothing outlives the caller.
func shielded<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await Task { try await work() }.value
}
