import Capabilities
import GatewayModels
import JSON
import Synchronization
import Testing
import TurnLoop

@Suite("Limits of the claude command", .timeLimit(.minutes(5)))
struct ClaudeLimitTests {
    private struct TooMuch: Failure {
        var code: String { "test.too-much" }
        var message: String { "it is too much" }
        var exit: ExitCode { .failed }
    }

    /// Endless rounds: each has two calls with results, and reports its usage twice.
    private static let endless = """
        begin("claude-opus-5")
        number = 0
        while True:
            number += 1
            name = "m-%d" % number
            seen(number)
            assistant(tool("Bash", {"command": "a"}, id=name + "a"), id=name)
            assistant(tool("Bash", {"command": "b"}, id=name + "b"), id=name)
            piece(type="message_delta", delta={}, usage={"output_tokens": 100})
            result_of("x", id=name + "a")
            result_of("x", id=name + "b")
        """

    @Test("The command asks its model only up to the limit, and what was said is kept")
    func rounds() async throws {
        try await ScriptedClaude.run(Self.endless) { claude in
            let turn = try await claude.with { $0.rounds = 3 }.turn()
            guard case .roundLimit = turn.outcome.end else {
                Issue.record("it ended as \(turn.outcome.end)")
                return
            }
            #expect(turn.outcome.rounds == 3 && turn.outcome.calls == 6 && turn.outcome.failedCalls == 0)
            #expect(turn.outcome.messages.map(\.isWhole) == [false])
        }
    }

    @Test("Each round after the first is admitted by the usage so far")
    func admission() async throws {
        try await ScriptedClaude.run(Self.endless) { claude in
            let asked = Mutex<[(Int, Usage)]>([])
            let turn = try await claude.turn(admit: { rounds, used in
                asked.withLock { $0.append((rounds, used)) }
                if rounds == 2 { throw TooMuch() }
            })
            #expect(turn.failure?.code == "test.too-much")
            let (rounds, used) = asked.withLock { ($0.map(\.0), $0.map(\.1)) }
            #expect(rounds == [1, 2])
            // Five tokens in and a hundred out for each round, at 5 and 25 dollars for a million.
            #expect(used.map(\.inputTokens) == [5, 10] && used.map(\.outputTokens) == [100, 200])
            #expect(used.map(\.cost) == [Cost(nanodollars: 2_525_000), Cost(nanodollars: 5_050_000)])
            #expect(turn.outcome.usage == used.last && turn.outcome.messages.map(\.usage) == [used.last])
        }
    }

    @Test("A round with missing results, and one of a sub-agent, is not finished")
    func open() async throws {
        let script = """
            begin()
            assistant(tool("Task", {}, id="a"), tool("Bash", {}, id="b"))
            result_of("x", id="b")
            say(type="user", parent_tool_use_id="a", message={"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": "y"}]})
            assistant(text("There."), id="m-2")
            result()
            """
        try await ScriptedClaude.run(script) { claude in
            let turn = try await claude.turn(admit: { _, _ in throw TooMuch() })
            #expect(turn.isAnswered)
        }
    }
}
