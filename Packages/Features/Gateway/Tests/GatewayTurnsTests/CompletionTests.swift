import Capabilities
import GatewayStore
import JSON
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Completions")
struct CompletionTests {
    private func input(_ text: String = "Hello", model: String = "scripted/one") -> TurnInput {
        TurnInput(ChatRequest(model: model, messages: [Message(.user, text)]))
    }

    @Test("The client's tools go to the model, and the model's calls go back to the client")
    func clientTools() async throws {
        let model = ScriptedModel("scripted", .call([.named("weather", ["city": "Ulm"])]))
        let tools = TestTools()
        try await Workshop.run(model, sources: [tools]) { workshop in
            var input = input()
            let weather = ToolDescription(name: "weather", summary: "", input: [:], effect: .reads)
            input.chat.tools = [weather]
            input.chat.extras = ["tool_choice": "required", "project_id": "mine"]
            let heard = Heard()
            let report = try await workshop.turns.run(input) { heard.receive($0) }
            #expect(heard.words == ["began", "open call weather", "usage 8"])
            #expect(report.outcome.answer?.finish == .calls)
            #expect(report.place == TurnPlace(provider: "scripted", model: "one"))
            #expect(model.requests.map(\.tools) == [[weather]])
            #expect(model.requests[0].extras == ["tool_choice": "required"])
            #expect(tools.done == [])
        }
    }

    @Test("Only the usage of a completion is stored")
    func accounts() async throws {
        let price = ModelPrice(input: TokenPrice(perMillion: 1), output: TokenPrice(perMillion: 2))
        let model = ScriptedModel(
            "scripted", .say("Hi", Usage(inputTokens: 1000, outputTokens: 500)),
            models: { [ModelDescription(id: "one", provider: "scripted", price: price)] })
        try await Workshop.run(model) { workshop in
            let report = try await workshop.turns.run(input()) { _ in }
            #expect(report.outcome.usage.cost == Cost(nanodollars: 2_000_000))
            let stats = try await workshop.store.stats()
            #expect(stats.sessions == 0)
            #expect(stats.usage.usage.cost == Cost(nanodollars: 2_000_000))
            let sums = try await workshop.store.usage(by: .model)
            #expect(sums.map(\.key) == ["scripted/one"])
        }
    }

    @Test("An interrupted answer is reported with its reason and counted with unknown usage")
    func breaksOff() async throws {
        let model = ScriptedModel("scripted", .fail(Refusal()))
        try await Workshop.run(model) { workshop in
            let report = try await workshop.turns.run(input()) { _ in }
            #expect(report.failure?.code == "test.refused")
            #expect(try await workshop.store.stats().usage.answers == 0)
        }
    }

    @Test("A completion ends at once when its client disconnects")
    func vanishes() async throws {
        let model = ScriptedModel("scripted", .hang("once upon a time"))
        try await Workshop.run(model) { workshop in
            await #expect(throws: TestProblem.self) {
                _ = try await workshop.turns.run(input()) { events in
                    if events.contains(.chat(.text("once upon a time"))) { throw TestProblem("gone") }
                }
            }
            #expect(workshop.turns.running == 0)
            let usage = try await workshop.store.stats().usage
            #expect(usage.answers == 1 && usage.unpriced == 1)
        }
    }

    @Test("Closing the gateway ends a completion and refuses later ones")
    func closes() async throws {
        let model = ScriptedModel("scripted", .hang("once"))
        try await Workshop.run(model) { workshop in
            let began = Promise<Void>()
            let report = try await withThrowingTaskGroup(of: TurnReport.self) { group in
                group.addTask { [input = input(), turns = workshop.turns] in
                    try await turns.run(input) { events in
                        if events.contains(.chat(.text("once"))) { began.settle(()) }
                    }
                }
                try await began.value()
                await workshop.turns.close()
                return try await group.next()
            }
            #expect(report?.outcome.end.word == "stopped")
            #expect(try await refusal { _ = try await workshop.turns.run(input()) { _ in } } == .closing)
        }
    }
}
