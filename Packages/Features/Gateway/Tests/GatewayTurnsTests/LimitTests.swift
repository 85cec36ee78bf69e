import Capabilities
import CoreTesting
import GatewayStore
import JSON
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Limits and budgets")
struct LimitTests {
    private static let call = ScriptedModel.Step.call([.named("look_up")])
    private static let price = ModelPrice(input: TokenPrice(perMillion: 0.05), output: TokenPrice(perMillion: 0.125))

    /// A model that never stops calling tools: each round takes 20 tokens in, 8 out, and 2,000 billionths of a dollar.
    private func endless(_ id: String = "scripted") -> ScriptedModel {
        let model = ScriptedModel(id, models: { [ModelDescription(id: "one", provider: id, price: Self.price)] })
        for _ in 0..<20 { model.add(Self.call) }
        return model
    }

    @Test("A turn asks its model only up to the limit and keeps what was said")
    func rounds() async throws {
        var settings = TurnSettings()
        settings.rounds = 3
        let model = endless()
        try await Workshop.run(model, settings: settings, sources: [TestTools()]) { workshop in
            let report = try await workshop.say("Go")
            #expect(report.failure?.code == "gateway.round-limit")
            #expect(model.requests.count == 3)
            let session = try #require(report.place.session)
            #expect(try await workshop.history(session).count == 7)
            model.add(.say("there"))
        }
    }

    @Test("A turn that takes too long ends and keeps what was said")
    func time() async throws {
        let clock = TestClock()
        let model = ScriptedModel("scripted", .hang("Once"), .say("upon"))
        try await Workshop.run(model, clock: clock) { workshop in
            let said = Promise<Void>()
            let report = try await withThrowingTaskGroup(of: TurnReport.self) { group in
                group.addTask {
                    try await workshop.turns.run(workshop.input("Go")) { events in
                        if events.contains(.chat(.text("Once"))) { said.settle(()) }
                    }
                }
                try await said.value()
                await clock.waitForSleepers()
                clock.advance(by: .seconds(1800))
                return try #require(try await group.next())
            }
            #expect(report.failure?.code == "gateway.time-limit")
            #expect(report.text == "Once")
            let session = try #require(report.place.session)
            #expect(try await workshop.say("Go on", session: session).text == "upon")
        }
    }

    @Test("A turn writes only as many tokens as allowed")
    func outputTokens() async throws {
        var settings = TurnSettings()
        settings.outputTokens = 20
        let model = endless()
        try await Workshop.run(model, settings: settings, sources: [TestTools()]) { workshop in
            let report = try await workshop.say("Go")
            #expect(report.failure?.code == "gateway.output-limit")
            // After two rounds 16 tokens are written; the third may write 4.
            #expect(model.requests.map(\.options.maxTokens) == [20, 12, 4])
        }
    }

    @Test("A turn exceeds its cost limit by one round at most")
    func cost() async throws {
        var settings = TurnSettings()
        settings.cost = Cost(nanodollars: 5000)
        let model = endless()
        try await Workshop.run(model, settings: settings, sources: [TestTools()]) { workshop in
            let report = try await workshop.say("Go")
            #expect(report.failure?.code == "gateway.cost-limit")
            #expect(report.outcome.usage.cost == Cost(nanodollars: 6000))
            #expect(model.requests.count == 3)
        }
    }

    @Test(
        "A turn exceeds a budget by one round at most, and the next turn is refused",
        arguments: [
            ProjectBudget(project: BudgetLimit(tokens: 60)), ProjectBudget(session: BudgetLimit(tokens: 60)),
            ProjectBudget(project: BudgetLimit(cost: Cost(nanodollars: 5000))),
        ])
    func budget(budget: ProjectBudget) async throws {
        let model = endless()
        try await Workshop.run(model, sources: [TestTools()], budget: budget) { workshop in
            let report = try await workshop.say("Go")
            #expect(report.failure?.code == "gateway.budget-exceeded")
            #expect(model.requests.count == 3)
            let session = try #require(report.place.session)
            #expect(try await workshop.history(session).count == 7)
            let next = try await refusal { _ = try await workshop.say("Go", session: session) }
            #expect(next == .budgetExceeded)
            #expect(try await workshop.audit(session).first?.action == "turn.refused")
            #expect(model.requests.count == 3)
        }
    }

    @Test("The daily budget applies to completions too")
    func day() async throws {
        var settings = TurnSettings()
        settings.dayBudget = BudgetLimit(tokens: 40)
        let model = ScriptedModel("scripted", .say("1", Usage(inputTokens: 30, outputTokens: 10)), .say("2"))
        try await Workshop.run(model, settings: settings) { workshop in
            let input = TurnInput(ChatRequest(model: "scripted/one", messages: [Message(.user, "Hi")]))
            _ = try await workshop.turns.run(input) { _ in }
            #expect(try await refusal { _ = try await workshop.turns.run(input) { _ in } } == .budgetExceeded)
            #expect(try await refusal { _ = try await workshop.say("Hi") } == .budgetExceeded)
            #expect(model.requests.count == 1)
        }
    }

    @Test("A turn exceeds the budget of a client's token by one round, and the next is refused until tomorrow")
    func client() async throws {
        let model = endless()
        try await Workshop.run(model, sources: [TestTools()]) { workshop in
            for (name, tokens) in [("ci", 60), ("rich", 1_000_000)] {
                try await workshop.store.addClient(
                    GatewayClient(
                        name: name, scopes: [.chat], created: Timestamp(microseconds: 0),
                        budget: BudgetLimit(tokens: tokens)),
                    digest: Array(name.utf8))
            }
            func say(_ name: String, _ credential: String?, isAgent: Bool = true) async throws -> TurnReport {
                var input = workshop.input("Go")
                if !isAgent { input = TurnInput(ChatRequest(model: "scripted/one", messages: [Message(.user, "Hi")])) }
                input.client = TurnClient(name, credential: credential)
                return try await workshop.turns.run(input) { _ in }
            }
            let report = try await say("ci", "digest")
            #expect(report.failure?.code == "gateway.budget-exceeded" && model.requests.count == 3)
            for isAgent in [true, false] {
                let error = await #expect(throws: GatewayError.self) {
                    try await say("ci", "digest", isAgent: isAgent)
                }
                #expect(error?.status == 429 && error?.message.contains("the token 'ci' today is used up") == true)
                let wait = try #require(error?.retryAfter)
                #expect(wait > .zero && wait <= .seconds(86_400), "until the day ends")
            }
            let refused = try await workshop.audit().filter { $0.action == "turn.refused" }
            #expect(refused.map(\.subject) == ["ci", "ci"] && model.requests.count == 3)
            await #expect(throws: GatewayError.self) {
                try await workshop.turns.embeddings(["model": "scripted/one"], for: TurnClient("ci", credential: "d"))
            }
            // Other clients have their own budgets, or none.
            #expect(try await say("rich", "digest", isAgent: false).failure == nil)
            #expect(try await say("owner", nil, isAgent: false).failure == nil)
            let sums = try await workshop.store.usage(by: .client)
            #expect(Set(sums.map(\.key)) == ["ci", "rich", "owner"] && sums.first?.tokens == 84)
        }
    }

    @Test("A history that is too long for the model is shortened, and the client is told")
    func context() async throws {
        let model = ScriptedModel(
            "scripted", models: { [ModelDescription(id: "one", provider: "scripted", contextTokens: 2000)] })
        try await Workshop.run(model) { workshop in
            let long = (0..<1500).map { "word\($0)" }.joined(separator: " ")
            let session = try #require(try await workshop.say(long).place.session)
            let heard = Heard()
            _ = try await workshop.say("What was that?", session: session, to: heard)
            #expect(heard.notices.contains { $0.contains("do not fit into the model's context") })
            #expect(model.requests[1].messages.count == 1)
        }
    }
}
