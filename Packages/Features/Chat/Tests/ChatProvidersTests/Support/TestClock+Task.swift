import CoreTesting

extension TestClock {
    /// Returns when the task sleeps on this clock or has ended, so that a failing test does not hang.
    func waitForSleeper<Value: Sendable>(in task: Task<Value, any Error>) async {
        let end = Task {
            _ = await task.result
            try await sleep(for: .seconds(3600))
        }
        await waitForSleepers()
        end.cancel()
    }
}
