import Capabilities
import CoreTesting
import Synchronization
import Testing

@testable import GatewayTurns

@Suite("Alarms", .timeLimit(.minutes(5)))
struct AlarmTests {
    @Test("Only due alarms fire, in the order in which they were set")
    func ring() async throws {
        let clock = TestClock()
        let alarms = Alarms(after: .seconds(10), on: clock)
        let rung = Mutex<[Int]>([])
        let (third, first) = (Promise<Void>(), Promise<Void>())
        var numbers: [Int] = []
        for number in 0..<4 {
            numbers.append(
                alarms.set {
                    rung.withLock { $0.append(number) }
                    if number == 1 { first.settle(()) }
                    if number == 3 { third.settle(()) }
                })
            await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
        }
        alarms.cancel(numbers[0])
        alarms.cancel(numbers[2])
        // The first alarm was cancelled, so nothing fires at its time.
        clock.advance(by: .seconds(7))
        try await first.value()
        #expect(rung.withLock { $0 } == [1])
        await clock.waitForSleepers()
        clock.advance(by: .seconds(2))
        try await third.value()
        #expect(rung.withLock { $0 } == [1, 3])
        for number in numbers { alarms.cancel(number) }
    }

    @Test("Alarms work again after all have fired, and after all were cancelled", arguments: [true, false])
    func again(isRung: Bool) async throws {
        let clock = TestClock()
        let alarms = Alarms(after: .seconds(10), on: clock)
        for _ in 0..<3 {
            let rung = Promise<Void>()
            let number = alarms.set { rung.settle(()) }
            await clock.waitForSleepers()
            if isRung {
                clock.advance(by: .seconds(10))
                try await rung.value()
            }
            alarms.cancel(number)
        }
    }

    @Test("Alarms do not fire for work that ends in time")
    func inTime() async throws {
        let alarms = Alarms(after: .seconds(10), on: TestClock())
        let result = await alarms.during {
            "done"
        } ring: {
            Issue.record("nobody was late")
        }
        #expect(result == "done")
    }
}
