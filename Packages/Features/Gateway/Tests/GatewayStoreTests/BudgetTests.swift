import Capabilities
import GatewayStore
import Testing
import TurnLoop

@Suite("Budgets", .timeLimit(.minutes(5)))
struct BudgetTests {
    private static func usage(_ tokens: Int, _ cost: Int?) -> Usage {
        Usage(inputTokens: tokens / 2, outputTokens: tokens - tokens / 2, cost: cost.map(Cost.init(nanodollars:)))
    }

    @Test("Without limits there is nothing to check")
    func none() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            try await store.talk("a", "b", in: session.id)
            let state = try await store.checkBudget(session: session.id)
            #expect(state.lines.isEmpty && state.spent == nil)
            #expect(state.remainingTokens == nil && state.remainingCost == nil)
            #expect(try await store.checkBudget().lines.isEmpty)
            #expect(try await failure { _ = try await store.checkBudget(session: "x") } == .notFound)
            #expect(try await failure { _ = try await store.checkBudget(project: "x") } == .notFound)
        }
    }

    @Test("The limits of a session and of its project are counted separately, and the tightest applies")
    func scopes() async throws {
        try await withStore { store in
            let budget = ProjectBudget(project: BudgetLimit(tokens: 100), session: BudgetLimit(tokens: 60))
            let first = try await store.makeSession(budget: budget)
            let second = try await store.createSession(NewSession(project: first.project))
            try await store.talk("a", "b", in: first.id, usage: Self.usage(50, nil))
            try await store.talk("a", "b", in: second.id, usage: Self.usage(45, nil))
            let state = try await store.checkBudget(session: first.id)
            #expect(state.lines.map(\.scope) == [.session, .project] && state.spent == nil)
            #expect(state.lines.map(\.remainingTokens) == [10, 5] && state.remainingTokens == 5)
            try await store.talk("a", "b", in: first.id, usage: Self.usage(10, nil))
            let spent = try await store.checkBudget(session: first.id).spent
            #expect(spent?.scope == .session && spent?.message.contains("(60 of 60 tokens)") == true)
            #expect(try await store.checkBudget(session: second.id).spent?.scope == .project)
            try await store.deleteSession(first.id)
            #expect(try await store.checkBudget(session: second.id).spent?.scope == .project)
            let raised = ProjectBudget(project: BudgetLimit(tokens: 106))
            _ = try await store.updateProject(try #require(second.project), ProjectChange(budget: raised))
            #expect(try await store.checkBudget(session: second.id).remainingTokens == 1)
        }
    }

    @Test("Cost is compared exactly, and unknown cost does not count")
    func cost() async throws {
        try await withStore { store in
            let limit = BudgetLimit(cost: Cost(nanodollars: 1_250_000_001))
            let session = try await store.makeSession(budget: ProjectBudget(session: limit))
            try await store.talk("a", "b", in: session.id, usage: Self.usage(10, nil))
            try await store.talk("a", "b", in: session.id, usage: Self.usage(10, 1_250_000_000))
            let state = try await store.checkBudget(session: session.id)
            #expect(state.spent == nil && state.remainingCost == Cost(nanodollars: 1))
            #expect(state.lines.first?.used.unpriced == 1)
            try await store.talk("a", "b", in: session.id, usage: Self.usage(10, 1))
            let spent = try #require(try await store.checkBudget(session: session.id).spent)
            #expect(spent.message.contains("($1.2500 of $1.2500)") && !spent.message.hasSuffix("."))
        }
    }

    @Test("The daily limit counts everything of that day and nothing else")
    func day() async throws {
        let days = Days()
        try await withStore(days: days) { store in
            let session = try await store.makeSession()
            let limit = BudgetLimit(tokens: 30)
            try await store.talk("a", "b", in: session.id, usage: Self.usage(20, nil))
            try await store.account(UsageEntry(provider: "p", model: "m", usage: Self.usage(10, nil)))
            let spent = try #require(try await store.checkBudget(session: session.id, day: limit).spent)
            #expect(spent.scope == .day && spent.message.contains("today"))
            days.skip(days: 1)
            let state = try await store.checkBudget(session: session.id, day: limit)
            #expect(state.spent == nil && state.remainingTokens == 30)
        }
    }

    @Test("The limit of a client's token counts all of the client's usage today and names the client")
    func client() async throws {
        let days = Days()
        try await withStore(days: days) { store in
            let budget = BudgetLimit(tokens: 30, cost: Cost(nanodollars: 5))
            try await store.addClient(
                GatewayClient(name: "ci", scopes: [.chat], created: Days.start, budget: budget), digest: [1])
            try await store.addClient(GatewayClient(name: "free", scopes: [.chat], created: Days.start), digest: [2])
            #expect(try await store.clients().map(\.budget) == [budget, BudgetLimit()])
            #expect(try await store.client(digest: [1])?.client.budget == budget)
            let session = try await store.makeSession()
            let lease = try await store.beginTurn(session: session.id)
            try await store.append(
                TurnMessage(Message(.assistant, "a"), usage: Self.usage(20, 1)), provider: "p", model: "m",
                client: "ci",
                lease: lease)
            try await store.endTurn(lease)
            for name in ["free", "owner", nil] {
                try await store.account(
                    UsageEntry(client: name, provider: "p", model: "m", usage: Self.usage(100, 100)))
                #expect(try await store.checkBudget(session: session.id, client: name).lines == [])
            }
            let state = try await store.checkBudget(session: session.id, client: "ci", day: BudgetLimit(tokens: 1000))
            #expect(state.lines.map(\.scope) == [.client, .day] && state.remainingTokens == 10)
            try await store.account(UsageEntry(client: "ci", provider: "p", model: "m", usage: Self.usage(10, 1)))
            let spent = try #require(try await store.checkBudget(client: "ci").spent)
            #expect(spent.scope == .client)
            #expect(spent.message.contains("the token 'ci' today is used up (30 of 30 tokens)"), "\(spent.message)")
            days.skip(days: 1)
            #expect(try await store.checkBudget(client: "ci").spent == nil)
            let unstored = try await store.checkBudget(client: "ci", unstored: Self.usage(2, 5)).spent
            #expect(unstored?.message.contains("($0.0000 of $0.0000)") == true, "\(String(describing: unstored))")
            // A new token with the same name continues with the old one's usage.
            try await store.account(UsageEntry(client: "ci", provider: "p", model: "m", usage: Self.usage(30, nil)))
            try await store.removeClient(named: "ci")
            #expect(try await store.checkBudget(client: "ci").lines == [])
            try await store.addClient(
                GatewayClient(name: "ci", scopes: [.chat], created: Days.start, budget: budget), digest: [3])
            #expect(try await store.checkBudget(client: "ci").spent?.scope == .client)
        }
    }

    @Test("A limit of zero allows nothing")
    func zero() async throws {
        try await withStore { store in
            let session = try await store.makeSession(
                budget: ProjectBudget(project: BudgetLimit(cost: Cost(nanodollars: 0))))
            #expect(try await store.checkBudget(session: session.id).spent?.scope == .project)
            #expect(try await store.checkBudget(day: BudgetLimit(tokens: 0)).spent?.scope == .day)
        }
    }
}
