import Capabilities
import Testing

@Suite("Shielded work")
struct ShieldedTests {
    private struct Refused: Error {}

    @Test("Work is not cancelled with its caller, who waits for its result")
    func cancelled() async throws {
        let (begun, mayEnd) = (Promise<Void>(), Promise<Int>())
        let caller = Task {
            let number = try await shielded {
                begun.settle(())
                return try await mayEnd.value()
            }
            #expect(Task.isCancelled)
            return number
        }
        try await begun.value()
        caller.cancel()
        mayEnd.settle(7)
        #expect(try await caller.value == 7)
    }

    @Test("Work runs for a caller that is already cancelled")
    func early() async {
        let caller = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await shielded { Task.isCancelled }
        }
        #expect(await caller.value == false)
    }

    @Test("The error of the work is thrown")
    func failed() async {
        await #expect(throws: Refused.self) { try await shielded { () -> Int in throw Refused() } }
    }
}
