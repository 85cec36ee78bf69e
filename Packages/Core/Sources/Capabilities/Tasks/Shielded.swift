/// Does work that must be done even if the caller's task is cancelled, such as storing what was said.
///
/// The work runs in a task of its own, which is not cancelled with the caller's and is awaited here, so nothing outlives
/// the caller. Throws what the work throws.
public func shielded<Value: Sendable, Problem: Error>(
    _ work: @escaping @Sendable () async throws(Problem) -> Value
) async throws(Problem) -> Value {
    let task = Task { () async -> Result<Value, Problem> in
        do throws(Problem) { return .success(try await work()) } catch { return .failure(error) }
    }
    return try await task.value.get()
}
