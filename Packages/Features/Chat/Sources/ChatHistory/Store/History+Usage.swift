public import Capabilities
import StorageKit

extension History {
    /// The usage of answers, newest group first. Deleted conversations count while they can be restored, because their
    /// usage is real. Days are in UTC.
    public func usage(
        by grouping: UsageTotal.Grouping, _ filter: HistoryFilter = HistoryFilter()
    ) async throws -> [UsageTotal] {
        try await usage(by: [grouping], filter)[grouping] ?? []
    }

    /// The usage by several groupings, for which the answers are read once.
    public func usage(
        by groupings: Set<UsageTotal.Grouping>, _ filter: HistoryFilter = HistoryFilter()
    ) async throws -> [UsageTotal.Grouping: [UsageTotal]] {
        var columns: SQL = "SELECT "
        for grouping in UsageTotal.Grouping.allCases {
            columns = columns + (groupings.contains(grouping) ? grouping.key : "NULL") + ", "
        }
        let query = columns + (groupings.contains(.conversation) ? "c.title" : "NULL") + Self.sums
        let parts = try await database.read { connection in
            try connection.all(query, filter.since, filter.until, filter.model, filter.provider) { row in
                var keys: [UsageTotal.Grouping: String] = [:]
                for (index, grouping) in UsageTotal.Grouping.allCases.enumerated() { keys[grouping] = try row[index] }
                return UsagePart(
                    keys: keys, title: try row[4], newest: try row[5], answers: try row[6],
                    usage: Usage(
                        inputTokens: try row[7], outputTokens: try row[8], cachedTokens: try row[9],
                        cacheWriteTokens: try row[10], reasoningTokens: try row[11],
                        cost: try (row[12] as Int?).map(Cost.init(nanodollars:))))
            }
        }
        var totals: [UsageTotal.Grouping: [UsageTotal]] = [:]
        for grouping in groupings { totals[grouping] = UsagePart.totals(of: parts, by: grouping) }
        return totals
    }

    /// Invented numbers of servers are capped, so that no sum overflows.
    private static let sums: SQL = """
        , max(m.time), count(*), sum(min(m.usage ->> 'input_tokens', 1000000000000)),
            sum(min(m.usage ->> 'output_tokens', 1000000000000)),
            sum(min(m.usage ->> 'cached_tokens', 1000000000000)),
            sum(min(m.usage ->> 'cache_write_tokens', 1000000000000)),
            sum(min(m.usage ->> 'reasoning_tokens', 1000000000000)),
            sum(min(m.usage ->> 'cost_nanodollars', 1000000000000000))
        FROM messages m JOIN conversations c ON c.id = m.conversation
        WHERE m.usage IS NOT NULL AND m.usage != '{}' AND (?1 IS NULL OR m.time >= ?1) AND (?2 IS NULL OR m.time < ?2)
            AND (?3 IS NULL OR m.model = ?3) AND (?4 IS NULL OR m.provider = ?4)
        GROUP BY 1, 2, 3, 4
        """
}

extension UsageTotal.Grouping {
    fileprivate var key: SQL {
        switch self {
        case .conversation: "c.name"
        case .provider: "coalesce(m.provider, c.provider)"
        case .model: "coalesce(m.model, c.model)"
        case .day: "strftime('%Y-%m-%d', m.time / 1000000, 'unixepoch')"
        }
    }
}

/// The usage of answers that are in the same group, whatever the grouping.
private struct UsagePart {
    let keys: [UsageTotal.Grouping: String]
    let title: String?
    /// The time of the newest answer.
    let newest: Timestamp
    let answers: Int
    let usage: Usage

    /// The totals, newest group first.
    static func totals(of parts: [UsagePart], by grouping: UsageTotal.Grouping) -> [UsageTotal] {
        let groups = Dictionary(grouping: parts) { $0.keys[grouping] ?? "" }
        let newest = groups.mapValues { parts in parts.map(\.newest).max() ?? Timestamp(microseconds: 0) }
        let ordered = newest.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return ordered.map { key, _ in
            let parts = groups[key] ?? []
            return UsageTotal(
                key: key, title: grouping == .conversation ? parts.first?.title : nil,
                answers: parts.reduce(0) { $0 + $1.answers }, usage: parts.reduce(Usage()) { $0 + $1.usage })
        }
    }
}

/// The total usage of a group of answers.
public struct UsageTotal: Record, Hashable {
    /// A conversation's id, a provider, a model, or a day.
    public let key: String
    /// A conversation's title.
    public let title: String?
    /// The number of answers with a reported usage.
    public let answers: Int
    /// The sum of what the servers reported. A value is nil if no answer has it.
    public let usage: Usage

    /// How answers are grouped.
    public enum Grouping: String, Choice, Hashable { case conversation, provider, model, day }

    public static let fields: [Field<UsageTotal>] = [
        Field("group", "Model, provider, conversation or day", .name) { $0.key },
        Field("title", "Title of the conversation") { $0.title },
        Field("answers", "Number of answers") { $0.answers },
        Field("input_tokens", "Tokens read by the model") { $0.usage.inputTokens },
        Field("output_tokens", "Tokens written by the model") { $0.usage.outputTokens },
        Field("cached_tokens", "Tokens read from the provider's cache") { $0.usage.cachedTokens },
        Field("cache_write_tokens", "Tokens written to the cache") { $0.usage.cacheWriteTokens },
        Field("reasoning_tokens", "Tokens written as reasoning") { $0.usage.reasoningTokens },
        Field("cost_usd", "Cost in US dollars, as far as it is known") { $0.usage.cost },
    ]
}
