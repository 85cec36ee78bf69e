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

    @Test("Work that ignores its cancellation is abandoned after its time, and when its caller is cancelled")
    func abandoned() async throws {
        let (clock, mayEnd) = (TestClock(), Promise<Void>())
        defer { mayEnd.settle(()) }
        func hang() -> Task<TimedOutcome<Void>, Never> {
            Task {
                await bounded(by: .seconds(60), on: clock) {
                    await shielded { do { try await mayEnd.value() } catch {} }
                }
            }
        }
        let late = hang()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        guard case .timedOut = await late.value else {
            Issue.record("it was awaited")
            return
        }
        let cancelled = hang()
        await clock.waitForSleepers(1)
        cancelled.cancel()
        guard case .stopped = await cancelled.value else {
            Issue.record("it was awaited")
            return
        }
    }
}
