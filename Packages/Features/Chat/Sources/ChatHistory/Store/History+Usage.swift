public import Capabilities
import StorageKit

extension History {
    /// The usage of answers, newest group first. Deleted conversations count while they can be restored, because their
    /// usage is real. Days are in UTC.
    public func usage(
        by grouping: UsageTotal.Grouping, _ filter: HistoryFilter = HistoryFilter()
    ) async throws -> [UsageTotal] {
        try await database.read { connection in
            try connection.all(
                "SELECT " + grouping.key + " AS key, " + (grouping == .conversation ? "c.title" : "NULL") + Self.sums
                    + " GROUP BY key ORDER BY max(m.time) DESC, key",
                filter.since, filter.until, filter.model, filter.provider
            ) { row in
                UsageTotal(
                    key: try row[0] ?? "", title: try row[1], answers: try row[2],
                    usage: Usage(
                        inputTokens: try row[3], outputTokens: try row[4], cachedTokens: try row[5],
                        cacheWriteTokens: try row[6], reasoningTokens: try row[7],
                        cost: try (row[8] as Int?).map(Cost.init(nanodollars:))))
            }
        }
    }

    /// Invented numbers of servers are capped, so that no sum overflows.
    private static let sums: SQL = """
        , count(*), sum(min(m.usage ->> 'input_tokens', 1000000000000)),
            sum(min(m.usage ->> 'output_tokens', 1000000000000)),
            sum(min(m.usage ->> 'cached_tokens', 1000000000000)),
            sum(min(m.usage ->> 'cache_write_tokens', 1000000000000)),
            sum(min(m.usage ->> 'reasoning_tokens', 1000000000000)),
            sum(min(m.usage ->> 'cost_nanodollars', 1000000000000000))
        FROM messages m JOIN conversations c ON c.id = m.conversation
        WHERE m.usage IS NOT NULL AND m.usage != '{}' AND (?1 IS NULL OR m.time >= ?1) AND (?2 IS NULL OR m.time < ?2)
            AND (?3 IS NULL OR m.model = ?3) AND (?4 IS NULL OR m.provider = ?4)
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
