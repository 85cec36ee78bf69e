import Capabilities
import CoreTesting
import Testing

@Suite("TimeLimit", .timeLimit(.minutes(5)))
struct TimeLimitTests {
    private struct Refused: Error {}

    @Test("Work that ends in time gives its result, also nil", arguments: [nil, .seconds(60)] as [Duration?])
    func inTime(limit: Duration?) async throws {
        let clock = TestClock()
        #expect(try await withTimeLimit(limit, on: clock) { 1 } == 1)
        let found = try await withTimeLimit(limit, on: clock) { () -> Int? in nil }
        #expect(found == .some(nil))
        await #expect(throws: Refused.self) {
            try await withTimeLimit(limit, on: clock) { () -> Int in throw Refused() }
        }
    }

    @Test("Work whose time is over is cancelled and awaited")
    func over() async throws {
        let (clock, ended) = (TestClock(), Promise<Void>())
        let task = Task {
            try await withTimeLimit(.seconds(60), on: clock) { () -> Int in
                // It ends only because it is cancelled.
                do { try await Promise<Void>().value() } catch {}
                ended.settle(())
                throw Refused()
            }
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        #expect(try await task.value == nil)
        #expect(ended.isSettled)
    }

    @Test("A cancelled wait throws")
    func cancelled() async throws {
        let clock = TestClock()
        let task = Task {
            try await withTimeLimit(.seconds(60), on: clock) { try await Promise<Int>().value() }
        }
        await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
