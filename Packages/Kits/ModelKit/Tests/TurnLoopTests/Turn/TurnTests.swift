import Capabilities
import JSON
import Synchronization
import Testing

@testable import TurnLoop

@Suite("Turn")
struct TurnTests {
    let fixture = TurnFixture()

    @Test("A turn without calls is one answer, streamed and then stored whole")
    func plain() async throws {
        let model = ScriptedModel(.says([.text("Hello to you.")], usage: Usage(inputTokens: 7, outputTokens: 4)))
        let outcome = try await fixture.run(fixture.loop(), model)
        #expect(outcome.endName == "answered")
        #expect(outcome.exit == .done)
        #expect(fixture.text == "Hello to you.")
        #expect(outcome.messages.map(\.message) == [Message(.assistant, "Hello to you.")])
        #expect(fixture.stored == outcome.messages)
        #expect(outcome.messages.first?.start?.model == "scripted")
        #expect(outcome.messages.first?.isWhole == true)
        #expect(outcome.usage == Usage(inputTokens: 7, outputTokens: 4))
        #expect(fixture.all.first == .round(1))
    }

    @Test("A turn runs a call, gives its result to the model, and sums the usage of both answers")
    func oneCall() async throws {
        let tools = ScriptedTools([tool("read")])
        let model = ScriptedModel(
            .says(
                [.text("Looking."), call("a", "read", ["path": "x"])], finish: .calls, usage: Usage(inputTokens: 10)),
            .says([.text("Done.")], usage: Usage(inputTokens: 20, outputTokens: 2)))
        let outcome = try await fixture.run(fixture.loop([tools]), model)
        #expect(outcome.results == [ToolResult(call: "a", content: #"read {"path":"x"}"#, duration: .zero)])
        #expect(model.requests.count == 2)
        #expect(model.requests[0].tools.map(\.name) == ["read"])
        #expect(model.requests[1].messages.map(\.role) == [.user, .assistant, .tool])
        #expect(outcome.usage == Usage(inputTokens: 30, outputTokens: 2))
        #expect(outcome.answer?.message.text == "Done.")
        #expect((outcome.rounds, outcome.calls, outcome.failedCalls) == (2, 1, 0))
        #expect(fixture.states(of: "a") == [.waiting, .approved, .running, .done])
        let last = try #require(fixture.updates.last)
        #expect(try #require(last.started) < #require(last.ended))
        #expect((last.source, last.effect) == ("scripted", .reads))
    }

    @Test("A turn with an empty last answer ends well with the earlier text")
    func emptyEnd() async throws {
        let model = ScriptedModel(
            .says([.text("Let me look."), call("a", "read")], finish: .calls), .says([], finish: .stop))
        let outcome = try await fixture.run(fixture.loop([ScriptedTools([tool("read")])]), model)
        #expect(outcome.endName == "answered" && outcome.rounds == 2)
        #expect(fixture.text == "Let me look.")
        // The earlier messages are sent again unchanged, without the empty answer.
        #expect(HistoryRepair.repaired(outcome.messages.map(\.message)).map(\.role) == [.assistant, .tool])
    }

    @Test("Calls that the server ran are shown, and neither run nor answered")
    func doneCalls() async throws {
        let tools = ScriptedTools([tool("read")])
        var done = ToolCall(id: "s", name: "read", input: [:])
        done.isDone = true
        let model = ScriptedModel(
            .says([.call(done), .result(ToolResult(call: "s", content: "from there")), .text("It is so.")]))
        let outcome = try await fixture.run(fixture.loop([tools]), model)
        #expect(tools.calls.isEmpty)
        #expect(outcome.rounds == 1)
        #expect(outcome.messages.count == 1)
        #expect(fixture.updates.map(\.state) == [.done])
        #expect(fixture.updates.first?.result?.content == "from there")
    }

    @Test("A turn ends at the limit of rounds, and the open calls say so")
    func roundLimit() async throws {
        let tools = ScriptedTools([tool("read")])
        let model = ScriptedModel(steps: (1...9).map { .says([call("c\($0)", "read")], finish: .calls) })
        var loop = fixture.loop([tools])
        loop.limits.rounds = 3
        let outcome = try await fixture.run(loop, model)
        #expect(outcome.endName == "round limit")
        #expect(outcome.exit == .failed)
        #expect(model.requests.count == 3)
        #expect(tools.calls.count == 2)
        #expect(outcome.results.last?.content == CallMessages.rounds(3))
        #expect(HistoryRepair.repaired(outcome.messages.map(\.message)) == outcome.messages.map(\.message))
    }

    @Test("A turn does not continue after a filter withheld the answer")
    func refused() async throws {
        let tools = ScriptedTools([tool("read")])
        let model = ScriptedModel(.says([.refusal("No."), call("a", "read")], finish: .refused))
        let outcome = try await fixture.run(fixture.loop([tools]), model)
        #expect(tools.calls.isEmpty)
        #expect(model.requests.count == 1)
        #expect(outcome.results.map(\.content) == [CallMessages.refused])
    }

    @Test("Long results are shortened for the model, and stored and shown whole")
    func longResults() async throws {
        let long = String(repeating: "0123456789", count: 1000) + "the end"
        let tools = ScriptedTools([tool("read") { _ in ToolResult(call: "", content: long) }])
        let model = ScriptedModel(.says([call("a", "read")], finish: .calls), .says([.text("Long.")]))
        var loop = fixture.loop([tools])
        loop.limits.resultBytes = 1000
        let outcome = try await fixture.run(loop, model)
        #expect(outcome.results.first?.content == long)
        #expect(fixture.updates.last?.result?.content == long)
        guard case .result(let sent)? = model.requests[1].messages.last?.parts.first else {
            Issue.record("no result was sent")
            return
        }
        #expect(sent.content.utf8.count < 1200)
        #expect(sent.content.hasSuffix("the end"))
        #expect(sent.content.contains("9007 of 10007 bytes are left out here"))
    }

    @Test("The cost is computed if the server does not report it")
    func price() async throws {
        let model = ScriptedModel(.says([.text("Hi.")], usage: Usage(inputTokens: 1_000_000, outputTokens: 100_000)))
        var loop = fixture.loop()
        loop.price = ModelPrice(input: TokenPrice(perMillion: 3), output: TokenPrice(perMillion: 15))
        let outcome = try await fixture.run(loop, model)
        #expect(outcome.usage.cost == Cost(nanodollars: 4_500_000_000))
        #expect(outcome.messages.first?.usage?.cost == Cost(nanodollars: 4_500_000_000))
    }

    @Test("A turn ends with the error of its reader, and asks no more")
    func readerFails() async throws {
        let model = ScriptedModel(.says([call("a", "read")], finish: .calls), .says([.text("Done.")]))
        let tools = ScriptedTools([tool("read")])
        await #expect(throws: ToolFault.self) {
            try await fixture.loop([tools]).run(
                ChatRequest(model: "m", messages: [Message(.user, "Hi.")]), asking: { try await model.answer($0, $1) }
            ) { events in
                if case .message? = events.first { throw ToolFault() }
            }
        }
        #expect(model.requests.count == 1)
        #expect(tools.calls.isEmpty)
    }

    @Test("A turn continues only after its events were taken")
    func backPressure() async throws {
        let taken = Signal()
        let reached = Signal()
        let fixture = fixture
        let model: TurnLoop.Model = { _, receive in
            try await receive([.text("one")])
            reached.raise()
            return ChatAnswer(start: ChatStart(), message: Message(.assistant, "one"), finish: .stop)
        }
        let turn = Task {
            try await fixture.loop().run(ChatRequest(model: "m", messages: []), asking: model) { events in
                fixture.events.withLock { $0 += events }
                if events == [.chat(.text("one"))] { await taken.wait() }
            }
        }
        while !fixture.all.contains(.chat(.text("one"))) { await Task.yield() }
        #expect(!fixture.all.contains { if case .message = $0 { true } else { false } })
        taken.raise()
        await reached.wait()
        #expect(try await turn.value.endName == "answered")
    }
}
