/// Does what must be done even where the task was cancelled, such as storing what was said. The task made for it is
/// awaited here, so that nothing outlives the caller.
func shielded<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await Task { try await work() }.value
}
