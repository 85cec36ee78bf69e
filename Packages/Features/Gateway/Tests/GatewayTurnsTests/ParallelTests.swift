import Capabilities
import CoreTesting
import GatewayStore
import JSON
import TestTraits
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Many sessions", .serialized, .alone, .timeLimit(.minutes(5)))
struct ParallelTests {
    @Test("200 concurrent sessions use tools, and each stores only its own messages")
    func many() async throws {
        let tools = TestTools()
        try await Workshop.run(EchoModel(), sources: [tools]) { workshop in
            let places = try await withThrowingTaskGroup(of: (Int, String?).self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let first = try await workshop.say("first \(number)")
                        let second = try await workshop.say("second \(number)", session: first.place.session)
                        #expect(second.text == "you said second \(number)")
                        return (number, first.place.session)
                    }
                }
                return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
            }
            #expect(Set(places.values).count == 200)
            for (number, session) in places {
                let history = try await workshop.history(session)
                #expect(
                    history
                        == ["first", "second"].flatMap { word in
                            [
                                "user: \(word) \(number)", "assistant: [look_up]", "tool: did look.up",
                                "assistant: you said \(word) \(number)",
                            ]
                        })
            }
            #expect(tools.done.count == 400)
            let usage = try await workshop.store.stats().usage
            #expect(usage.answers == 800)
            #expect(usage.usage.outputTokens == 800 * 5)
        }
    }

    @Test("Sessions that are stopped and abandoned at random never hang or lose messages")
    func random() async throws {
        let seed: UInt64 = 20_261_121
        let tools = TestTools()
        try await Workshop.run(EchoModel(), sources: [tools]) { workshop in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        var generator = SeededGenerator(seed: seed + UInt64(number))
                        let new = NewSession(project: workshop.project.id)
                        let session = try await workshop.store.createSession(new).id
                        for round in 0..<4 {
                            let leaves = Int.random(in: 0..<3, using: &generator)
                            let stopAt = Int.random(in: 0..<8, using: &generator)
                            let count = Counter()
                            do {
                                let input = workshop.input("round \(round)", session: session)
                                _ = try await workshop.turns.run(input) { _ in
                                    guard count.next() == stopAt else { return }
                                    if leaves == 0 { throw TestProblem("gone") }
                                    if leaves == 1 { workshop.turns.table.turn(of: session)?.control.stop(.asked) }
                                }
                            } catch is TestProblem {}
                        }
                        let stored = try await workshop.store.storedMessages(of: session).items
                        let said = stored.filter { $0.message.role == .user }.map(\.message.text)
                        #expect(said == (0..<4).map { "round \($0)" }, "seed \(seed), session \(number)")
                        // Each call has its result, so that any provider accepts the history.
                        let calls = stored.flatMap(\.message.calls).count
                        let results = stored.flatMap(\.message.parts).count {
                            if case .result = $0 { true } else { false }
                        }
                        #expect(calls == results, "seed \(seed), session \(number)")
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
