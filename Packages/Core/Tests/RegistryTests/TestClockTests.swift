import CoreTesting
import Testing

@Suite("TestClock", .timeLimit(.minutes(5)))
struct TestClockTests {
    @Test("The clock stands still until it is advanced, and wakes exactly the sleepers that are due")
    func moving() async throws {
        let clock = TestClock()
        let start = clock.now
        async let short: Void = clock.sleep(for: .seconds(1))
        async let long: Void = clock.sleep(for: .seconds(2))
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(1500))
        try await short
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(500))
        try await long
        #expect(start.duration(to: clock.now) == .seconds(2))
    }

    @Test("A sleep until a past time returns at once")
    func past() async throws {
        let clock = TestClock()
        try await clock.sleep(for: .zero)
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: clock.now.advanced(by: .seconds(-1)), tolerance: nil)
    }

    @Test("A cancelled task does not sleep, and cancelling ends its sleep")
    func cancelled() async {
        let clock = TestClock()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await clock.sleep(for: .seconds(1)) } != nil
                }
            }
            await clock.waitForSleepers(2)
            group.cancelAll()
            group.addTask {
                await #expect(throws: CancellationError.self) { try await clock.sleep(for: .seconds(1)) } != nil
            }
            for await isThrown in group { #expect(isThrown) }
        }
    }
}
