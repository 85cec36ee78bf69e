import Capabilities
import ChatHistory
import JSON
import Registry
import Screens

/// The screen of what models took: tokens by day and cost by model as charts, and the groups that were asked for as a
/// table.
struct UsageScreen {
    private let services: ChatServices

    init(_ services: ChatServices) { self.services = services }

    private static let interval = Duration.seconds(10)
    /// How many days, and how many models the charts have.
    private static let (mostDays, mostModels) = (90, 20)

    func add(to registry: inout RegistryBuilder) {
        registry.add(
            Screen(
                "chat.costs", "Usage", .tab("Models"),
                .option("by", "How to group the answers", default: UsageTotal.Grouping.model),
                .option("model", "Only answers of this model", as: String?.self, completion: ChatCompletion.usedModels),
                .option(
                    "provider", "Only answers of this provider", as: String?.self,
                    completion: ChatCompletion.usedProviders),
                .option("since", "Only answers since this time", as: Timestamp?.self),
                .option("until", "Only answers before this time", as: Timestamp?.self)
            ) { screen, grouping, model, provider, since, until in
                let filter = HistoryFilter(provider: provider, model: model, since: since, until: until)
                repeat {
                    try await screen.show(try await block(by: grouping, filter))
                } while try await screen.changed(orAfter: Self.interval)
            })
    }

    private func block(by grouping: UsageTotal.Grouping, _ filter: HistoryFilter) async throws -> Block {
        let totals = try await services.history.usage(by: [.day, .model, grouping], filter)
        let groups = totals[grouping] ?? []
        let (rows, omitted) = Table(
            groups, id: "group",
            detail: grouping == .conversation
                ? .screen("chat.conversation", "Conversation", ["conversation": .row("group")]) : nil,
            empty: "no answers were counted yet"
        ).fitting()
        let table = Block(.table(rows), id: "groups", title: "By \(grouping.rawValue)")
        guard !groups.isEmpty else { return .stack([table], id: "usage") }
        let charts = [Self.tokens(totals[.day] ?? []), Self.cost(totals[.model] ?? [])]
        var blocks = [Block.stack(charts, id: "charts"), table]
        if omitted > 0 {
            let text =
                "only the newest \(groups.count - omitted) of \(groups.count) are shown; "
                + "'martlet chat usage --by \(grouping.rawValue)' shows all"
            blocks.append(Block(.text(RichText(text, .mutedForeground)), id: "omission"))
        }
        return .stack(blocks, id: "usage")
    }

    /// Tokens by day, with the days without answers in between.
    private static func tokens(_ totals: [UsageTotal]) -> Block {
        let byDay = Dictionary(totals.map { ($0.key, $0.usage) }) { $0 + $1 }
        let days = calendar(byDay.keys.min(), byDay.keys.max())
        func values(_ value: (Usage) -> Int?) -> [Double] {
            // A server that reports nothing is not one that needed nothing.
            days.map { day in byDay[day].map { value($0).map(Double.init) ?? .nan } ?? 0 }
        }
        let chart = Chart(
            .bars,
            [
                Chart.Series("read", values(\.inputTokens)), Chart.Series("written", values(\.outputTokens)),
            ], labels: days, unit: "tokens")
        return Block(.chart(chart), id: "tokens", title: "Tokens by day (UTC)")
    }

    /// The newest days from the first to the last.
    private static func calendar(_ first: String?, _ last: String?) -> [String] {
        guard let first, let last, var time = Timestamp(iso8601: "\(last)T00:00:00Z") else { return [] }
        var days: [String] = []
        while days.count < mostDays {
            let day = String(time.iso8601.prefix(10))
            guard day >= first else { break }
            days.append(day)
            time = time + .seconds(-86_400)
        }
        return days.reversed()
    }

    /// The cost by model, the dearest first.
    private static func cost(_ totals: [UsageTotal]) -> Block {
        let known = totals.compactMap { total in
            total.usage.cost.map { (model: total.key, dollars: Double($0.nanodollars) / 1e9) }
        }
        let models = known.sorted { ($1.dollars, $0.model) < ($0.dollars, $1.model) }.prefix(mostModels)
        let chart = Chart(
            .bars, [Chart.Series("cost", models.map(\.dollars))], labels: models.map(\.model), unit: "US dollars")
        return Block(.chart(chart), id: "cost", title: "Cost by model, as far as it is known")
    }
}
