import LoopKit
import Testing

@Suite("Handover to a thread", .timeLimit(.minutes(5)))
struct HandoverTests {
    @Test("Each value reaches the waiting thread, whether it comes before or after the thread waits")
    func values() async throws {
        let (there, back) = (Handover<Int>(), Handover<Int>())
        let thread = try OwnThread {
            for _ in 0..<1000 { back.give((there.take() ?? -1) + 1) }
        }
        let sum = try await onOwnThread {
            (0..<1000).reduce(0) { sum, number in
                there.give(number)
                return sum + (back.take(within: .seconds(60)) ?? -1)
            }
        }
        thread.join()
        #expect(sum == (1...1000).reduce(0, +))
    }

    @Test("A wait ends without a value when its time is over, and a later value is not lost")
    func limit() async throws {
        let handover = Handover<Int>()
        let (early, late) = try await onOwnThread {
            let early = handover.take(within: .milliseconds(1))
            handover.give(7)
            return (early, handover.take(within: .zero))
        }
        #expect(early == nil && late == 7)
    }
}
