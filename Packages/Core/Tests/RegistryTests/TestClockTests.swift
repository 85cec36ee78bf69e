import CoreTesting
import Testing

@Suite("The clock of the tests", .timeLimit(.minutes(5)))
struct TestClockTests {
    @Test("stands still until it is moved, and wakes exactly those whose time has come")
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

    @Test("lets nobody sleep for a time that is over")
    func past() async throws {
        let clock = TestClock()
        try await clock.sleep(for: .zero)
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: clock.now.advanced(by: .seconds(-1)), tolerance: nil)
    }

    @Test("ends the sleep of a task that is cancelled, before it or in it")
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
