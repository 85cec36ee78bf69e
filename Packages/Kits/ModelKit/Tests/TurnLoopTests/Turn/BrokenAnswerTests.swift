import Capabilities
import JSON
import Testing

@testable import TurnLoop

@Suite("Broken answers")
struct BrokenAnswerTests {
    let fixture = TurnFixture()

    @Test("A broken answer is kept as far as it came and marked, and the turn ends with the error")
    func text() async throws {
        let model = ScriptedModel(
            .breaks(after: [.reasoning("Hm"), .reasoning("m."), .text("Half an "), .text("ans")], ToolFault()))
        let outcome = try await fixture.run(fixture.loop(), model)
        #expect(outcome.endName == "failed: test.fault")
        #expect(outcome.answer == nil)
        let kept = try #require(outcome.messages.first)
        #expect(!kept.isWhole)
        #expect(kept.message.parts == [.reasoning(Reasoning("Hmm.")), .text("Half an ans")])
        #expect(fixture.stored == outcome.messages)
    }

    @Test("A broken answer leaves no call unanswered")
    func calls() async throws {
        let tools = ScriptedTools([tool("read")])
        let read = ToolCall(id: "a", name: "read", input: [:])
        let model = ScriptedModel(.breaks(after: [.text("So"), .call(read)], ToolFault()))
        let outcome = try await fixture.run(fixture.loop([tools]), model)
        #expect(tools.calls.isEmpty)
        #expect(outcome.messages.map(\.message.role) == [.assistant, .tool])
        #expect(outcome.results == [ToolResult(call: "a", content: CallMessages.brokenOff, isError: true)])
        #expect(fixture.states(of: "a") == [.waiting, .failed])
    }

    @Test("A broken answer without content stores nothing")
    func nothing() async throws {
        let outcome = try await fixture.run(fixture.loop(), ScriptedModel(.breaks(after: [], ToolFault())))
        #expect(outcome.messages.isEmpty)
        #expect(outcome.exit == .failed)
    }

    @Test("The usage of a broken answer is counted")
    func usage() async throws {
        let usage = Usage(inputTokens: 12, outputTokens: 3)
        let model = ScriptedModel(.breaks(after: [.text("So"), .usage(usage)], ToolFault()))
        let outcome = try await fixture.run(fixture.loop(), model)
        #expect(outcome.usage == usage)
        #expect(outcome.messages.first?.usage == usage)
    }

    @Test("A broken answer after a call keeps the earlier messages")
    func later() async throws {
        let tools = ScriptedTools([tool("read")])
        let model = ScriptedModel(
            .says([call("a", "read")], finish: .calls), .breaks(after: [.text("The fi")], ToolFault()))
        let outcome = try await fixture.run(fixture.loop([tools]), model)
        #expect(outcome.messages.map(\.isWhole) == [true, true, false])
        #expect(outcome.messages.map(\.message.role) == [.assistant, .tool, .assistant])
    }

    @Test("Text held back as a possible tag is emitted when the answer breaks")
    func heldBack() async throws {
        var loop = fixture.loop()
        loop.formatter = TaggedText()
        let model = ScriptedModel(.breaks(after: [.text("Use <tool_")], ToolFault()))
        let outcome = try await fixture.run(loop, model)
        #expect(outcome.messages.first?.message.text == "Use <tool_")
    }
}
