import Capabilities
import GatewayStore
import GatewayTurns
import JSON
import LoopKit
import Registry
import Screens

/// The screen of the gateway of this machine: whether it runs, what was used today, and how much the budgets leave.
///
/// Calls that wait for approval are known only to the running gateway, which tells them to clients with a token.
struct OverviewScreen {
    private let services: GatewayServices

    init(_ services: GatewayServices) { self.services = services }

    private static let interval = Duration.seconds(5)
    /// How many sessions, and how many budgets of tokens are shown.
    private static let most = 20

    func add(to registry: inout RegistryBuilder) {
        registry.add(
            Screen("gateway.overview", "Gateway", .home) { screen in
                repeat {
                    try await screen.show(try await block(screen.context))
                } while try await screen.changed(orAfter: Self.interval)
            }
            // It asks the gateway like `gateway.status`.
            .sending())
    }

    private func block(_ context: ActionContext) async throws -> Block {
        guard let state = try running() else {
            // The database is not opened, because that would create it.
            return Block(
                .placeholder(
                    Placeholder(
                        .empty, "no gateway is running here; start it with 'martlet gateway serve'",
                        retry: .action("gateway.serve", "Start", key: "s"))), id: "down")
        }
        let health = await HealthProbe(services: services).look(at: state)
        let today = Day(context.host.now())
        let filter = UsageFilter(from: today, through: today)
        let used = try await services.store.usage(by: .day, filter).first ?? UsageSum()
        let sessions = try await services.store.runningSessions().prefix(Self.most)
        var blocks = [
            Block(.values(Self.values(health)), id: "status"),
            Block(.values(Values(TodaysUsage(sum: used))), id: "today", title: "Today (UTC)"),
        ]
        let budgets = try await gauges(used, filter, context.host.now())
        if !budgets.isEmpty { blocks.append(.stack(budgets, id: "budgets", title: "Budgets of today")) }
        if !sessions.isEmpty {
            blocks.append(
                Block(
                    .table(Table(sessions.map(ListedSession.init), id: "id")), id: "running", title: "Running turns"))
        }
        return Block(
            .stack(Stack(blocks)), id: "overview",
            links: [
                .action("gateway.stop", "Stop", key: "x"),
                .screen("gateway.sessions", "Sessions", key: "s"),
                .screen("gateway.tokens", "Tokens", key: "t"),
                .screen("gateway.costs", "Usage", key: "u"),
            ])
    }

    private func running() throws -> InstanceState? {
        let loop = EventLoop()
        defer { loop.stop() }
        return try Instance(services.surroundings).running(loop: loop)?.state
    }

    /// The health without the response time, which would change each time.
    private static func values(_ health: GatewayHealth) -> Values {
        var values = health.json.object ?? [:]
        values["latency"] = nil
        return Values(GatewayHealth.fields.map(\.property).filter { $0.name != "latency" }, values)
    }

    // MARK: Budgets

    private func gauges(_ used: UsageSum, _ filter: UsageFilter, _ now: Timestamp) async throws -> [Block] {
        let limited = try await services.store.clients().filter { client in
            !client.budget.isEmpty && client.expires.map { $0 > now } != false
        }
        let all = BudgetState.Line(
            scope: .day, limit: services.settings.turns(in: services.surroundings).dayBudget, used: used)
        var blocks = Self.gauges(all, "everything", id: "all")
        guard !limited.isEmpty else { return blocks }
        let byClient = try await services.store.usage(by: .client, filter)
        for client in limited.prefix(Self.most) {
            let sum = byClient.first { $0.key == client.name } ?? UsageSum()
            let line = BudgetState.Line(scope: .client, limit: client.budget, used: sum)
            // A client may have any name.
            blocks += Self.gauges(line, client.name, id: "client \(client.name)")
        }
        return blocks
    }

    /// A gauge for each kind of limit.
    private static func gauges(_ line: BudgetState.Line, _ title: String, id: String) -> [Block] {
        var blocks: [Block] = []
        func add(_ used: Double, _ limit: Double, _ unit: String) {
            blocks.append(
                Block(
                    .gauge(Gauge(used, of: limit, unit: unit, warning: 0.8, failure: 1)), id: "\(id) \(unit)",
                    title: title))
        }
        if let limit = line.limit.tokens { add(Double(line.used.tokens ?? 0), Double(limit), "tokens") }
        if let limit = line.limit.cost {
            add(Double(line.used.usage.cost?.nanodollars ?? 0) / 1e9, Double(limit.nanodollars) / 1e9, "US dollars")
        }
        return blocks
    }
}

/// What was used through the gateway today.
private struct TodaysUsage: Record {
    let sum: UsageSum

    static let fields: [Field<TodaysUsage>] = [
        Field("answers", "Number of answers") { $0.sum.answers },
        Field("input_tokens", "Tokens read by models") { $0.sum.usage.inputTokens },
        Field("output_tokens", "Tokens written by models") { $0.sum.usage.outputTokens },
        Field("cost_usd", "Known cost in US dollars") { $0.sum.usage.cost },
    ]
}
