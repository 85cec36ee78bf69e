import Capabilities
import HTTPTesting
import Synchronization
import Testing

@testable import ChatProviders

@Suite("Gathering pieces of an answer", .timeLimit(.minutes(5)))
struct GatheringTests {
    @Test("The reader waits only after small batches in quick succession")
    func rule() {
        let start = ContinuousClock.now
        var gathering = EventBatcher()
        let steps: [(milliseconds: Double, events: Int, isDue: Bool)] = [
            (0, 1, false), (0.1, 1, true), (5, 60, false), (5.1, 3, true), (30, 1, false), (50, 1, false),
            (50.5, 500, false), (50.6, 500, false),
        ]
        for step in steps {
            let now = start + .microseconds(Int(step.milliseconds * 1000))
            #expect(gathering.isDue(after: step.events, at: now) == step.isDue, "\(step)")
        }
    }

    @Test("Pieces sent one by one arrive complete, in order, and in fewer steps")
    func complete() async throws {
        let count = 3000
        try await Fixture.run { connection in
            try connection.stream(Stream.first)
            for number in 0..<count { try connection.send(Stream.text("\(number) ")) }
            try connection.send(Stream.end)
        } _: { fixture in
            let steps = Mutex(0)
            let answer = try await fixture.provider().answer(.hello) { events in
                fixture.heard.take(events)
                steps.withLock { $0 += 1 }
            }
            #expect(answer.message.text == (0..<count).map { "\($0) " }.joined())
            #expect(fixture.heard.text == answer.message.text)
            #expect(steps.withLock { $0 } < count / 4)
        }
    }
}
