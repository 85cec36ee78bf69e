/// Lets one at a time ask about a server; the others wait for the answer.
actor AskingTurns {
    private struct Turn {
        let number: Int
        let task: Task<Void, any Error>
    }

    private var last: [ServerAddress: Turn] = [:]
    private var count = 0

    /// Runs the question when those before it have ended. When the person said no to one, that is the answer for all who
    /// waited. Whoever is cancelled while another asks returns at once.
    func inTurn(
        _ server: ServerAddress, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let before = last[server]?.task
        count += 1
        let number = count
        let (end, ended) = AsyncThrowingStream<Void, any Error>.makeStream()
        // It ends with the questions before it and its own, also when nobody waits for it any more: those behind it
        // must not ask before.
        let task = Task {
            defer { if last[server]?.number == number { last[server] = nil } }
            do {
                do { try await before?.value } catch is CancellationError {
                    // Whoever asked before gave up, which says nothing about this one.
                }
                try Task.checkCancellation()
                try await body()
                ended.finish()
            } catch {
                ended.finish(throwing: error)
                throw error
            }
        }
        last[server] = Turn(number: number, task: task)
        try await withTaskCancellationHandler {
            for try await _ in end {}
            try Task.checkCancellation()
        } onCancel: {
            task.cancel()
        }
    }
}
