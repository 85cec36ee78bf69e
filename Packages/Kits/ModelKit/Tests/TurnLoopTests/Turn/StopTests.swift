import Capabilities
import CoreTesting
import JSON
import Synchronization
import Testing

@testable import TurnLoop

@Suite("Stopping a turn", .timeLimit(.minutes(5)))
struct StopTests {
    let fixture = TurnFixture()

    @Test("A stop during an answer keeps what arrived, and emits it although the task is cancelled")
    func speaking() async throws {
        let model = ScriptedModel(.hangs(after: [.text("So far"), .text(", so good")]))
        let fixture = fixture
        let turn = Task { try await fixture.run(fixture.loop(), model) }
        await model.hanging.wait()
        turn.cancel()
        let outcome = try await turn.value
        #expect(outcome.endName == "stopped")
        #expect(outcome.exit == .interrupted)
        #expect(outcome.messages.map(\.message.text) == ["So far, so good"])
        #expect(outcome.messages.first?.isWhole == false)
        #expect(fixture.stored == outcome.messages)
    }

    @Test("A stop delivers what must be stored to a reader that observes cancellation")
    func shielded() async throws {
        let model = ScriptedModel(.hangs(after: [.text("So far")]))
        let fixture = fixture
        let turn = Task {
            try await fixture.loop().run(
                ChatRequest(model: "m", messages: [Message(.user, "Hi.")]), asking: { try await model.answer($0, $1) }
            ) { events in
                try Task.checkCancellation()
                fixture.events.withLock { $0 += events }
            }
        }
        await model.hanging.wait()
        turn.cancel()
        let outcome = try await turn.value
        #expect(outcome.endName == "stopped")
        #expect(fixture.stored.map(\.message.text) == ["So far"])
    }

    @Test("A stop does not wait for a tool that ignores it, and answers every call")
    func deafTool() async throws {
        let (started, never) = (Signal(), Signal())
        let tools = ScriptedTools([
            tool("deaf") { call in
                started.raise()
                await never.wait()
                return ToolResult(call: call.id, content: "too late")
            }, tool("quick"), tool("write", .writes),
        ])
        let model = ScriptedModel(
            .says([call("a", "quick"), call("b", "deaf"), call("c", "write")], finish: .calls))
        let fixture = fixture
        let turn = Task {
            try await fixture.run(fixture.loop([tools], policy: ApprovalPolicy(rules: [.init(.allow)])), model)
        }
        await started.wait()
        while fixture.states(of: "a").last != .done { await Task.yield() }
        turn.cancel()
        let outcome = try await turn.value
        never.raise()
        #expect(outcome.endName == "stopped")
        #expect(outcome.results.map(\.call) == ["a", "b", "c"])
        #expect(outcome.results.map(\.isError) == [false, true, true])
        #expect(outcome.results.dropFirst().allSatisfy { $0.content == CallMessages.stopped })
        #expect(model.requests.count == 1)
        #expect(fixture.stored == outcome.messages)
        #expect(!tools.calls.contains { $0.name == "write" })
    }

    @Test("A stop cancels the running tools")
    func cancelsTools() async throws {
        let (started, ended) = (Signal(), Signal())
        let clock = fixture.clock
        let tools = ScriptedTools([
            tool("slow") { _ in
                started.raise()
                defer { ended.raise() }
                try await clock.sleep(for: .seconds(10))
                return ToolResult(call: "", content: "slept")
            }
        ])
        let fixture = fixture
        let model = ScriptedModel(.says([call("a", "slow")], finish: .calls))
        let turn = Task { try await fixture.run(fixture.loop([tools]), model) }
        await started.wait()
        turn.cancel()
        #expect(try await turn.value.results.map(\.content) == [CallMessages.stopped])
        await ended.wait()
    }

    @Test("A stop does not wait for an open question")
    func asking() async throws {
        let (asked, never) = (Signal(), Signal())
        let tools = ScriptedTools([tool("write", .writes)])
        let fixture = fixture
        let model = ScriptedModel(.says([call("a", "write"), call("b", "write")], finish: .calls))
        let loop = fixture.loop([tools]) { _ in
            asked.raise()
            await never.wait()
            return ApprovalAnswer(isAllowed: true)
        }
        let turn = Task { try await fixture.run(loop, model) }
        await asked.wait()
        turn.cancel()
        let outcome = try await turn.value
        never.raise()
        #expect(outcome.results.map(\.content) == [CallMessages.stopped, CallMessages.stopped])
        #expect(!outcome.isUnapproved)
        #expect(tools.calls.isEmpty)
    }

    @Test("A stop before the start asks no model")
    func before() async throws {
        let (go, model) = (Signal(), ScriptedModel())
        let fixture = fixture
        let turn = Task {
            await go.wait()
            return try await fixture.run(fixture.loop(), model)
        }
        turn.cancel()
        go.raise()
        #expect(try await turn.value.endName == "stopped")
        #expect(model.requests.isEmpty)
    }
}
