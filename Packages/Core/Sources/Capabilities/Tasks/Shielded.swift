/// Runs work to its end even if the caller's task is cancelled, such as storing an answer.
///
/// A separate task runs the work. It is awaited here and not cancelled with the caller, so nothing outlives the caller.
/// Throws what the work throws.
public func shielded<Value: Sendable, Problem: Error>(
    _ work: @escaping @Sendable () async throws(Problem) -> Value
) async throws(Problem) -> Value {
    let task = Task { () async -> Result<Value, Problem> in
        do throws(Problem) { return .success(try await work()) } catch { return .failure(error) }
    }
    return try await task.value.get()
}
