import Capabilities
import StorageKit

// MARK: Writing

extension Connection {
    /// Counts one answer, by itself and in the sums.
    func account(_ entry: UsageEntry, message: Int?, at time: Timestamp) throws {
        let (day, usage) = (Day(time).number, entry.usage.plausible)
        let (project, session, client) = (entry.project ?? "", entry.session ?? "", entry.client ?? "")
        try run(
            """
            INSERT INTO usage (day, time, project, session, message, provider, model, input, output, cached,
                cache_write, reasoning, cost, client) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            day, time, project, session, message, entry.provider, entry.model, usage.inputTokens, usage.outputTokens,
            usage.cachedTokens, usage.cacheWriteTokens, usage.reasoningTokens, usage.cost?.nanodollars, client)
        try run(
            """
            INSERT INTO usage_days VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET answers = answers + 1, unpriced = unpriced + excluded.unpriced,
                input = coalesce(input + excluded.input, input, excluded.input),
                output = coalesce(output + excluded.output, output, excluded.output),
                cached = coalesce(cached + excluded.cached, cached, excluded.cached),
                cache_write = coalesce(cache_write + excluded.cache_write, cache_write, excluded.cache_write),
                reasoning = coalesce(reasoning + excluded.reasoning, reasoning, excluded.reasoning),
                cost = coalesce(cost + excluded.cost, cost, excluded.cost)
            """,
            day, client, project, session, entry.provider, entry.model, usage.inputTokens, usage.outputTokens,
            usage.cachedTokens, usage.cacheWriteTokens, usage.reasoningTokens, usage.cost?.nanodollars,
            usage.cost == nil ? 1 : 0)
    }
}

extension Usage {
    /// Without what no answer can have taken. Servers make mistakes, and one of them must not spoil all sums.
    fileprivate var plausible: Usage {
        func count(_ number: Int?, _ most: Int) -> Int? {
            number.flatMap { 0...most ~= $0 ? $0 : nil }
        }
        let tokens = 1 << 40
        return Usage(
            inputTokens: count(inputTokens, tokens), outputTokens: count(outputTokens, tokens),
            cachedTokens: count(cachedTokens, tokens), cacheWriteTokens: count(cacheWriteTokens, tokens),
            reasoningTokens: count(reasoningTokens, tokens),
            cost: count(cost?.nanodollars, 1 << 50).map(Cost.init(nanodollars:)))
    }
}

// MARK: Reading

extension Connection {
    static let sums: SQL = """
        coalesce(sum(answers), 0), sum(input), sum(output), sum(cached), sum(cache_write), sum(reasoning), sum(cost),
            coalesce(sum(unpriced), 0) FROM usage_days
        """
    static let sessionSum: SQL = "SELECT " + sums + " WHERE session = ?"
    static let projectSum: SQL = "SELECT " + sums + " WHERE project = ?"
    static let daySum: SQL = "SELECT " + sums + " WHERE day = ?"
    static let clientSum: SQL = "SELECT " + sums + " WHERE day = ? AND client = ?"

    func usage(ofSession id: String) throws -> UsageSum { try sum(Self.sessionSum, id, key: id) }
    func usage(ofProject id: String) throws -> UsageSum { try sum(Self.projectSum, id, key: id) }
    func usage(of day: Day) throws -> UsageSum { try sum(Self.daySum, day.number, key: day.description) }

    func usage(ofClient name: String, on day: Day) throws -> UsageSum {
        try first(Self.clientSum, day.number, name) { row in try Self.sum(row, from: 0, key: name) }
            ?? UsageSum(key: name)
    }

    func usageOfAll() throws -> UsageSum {
        try first("SELECT " + Self.sums) { row in try Self.sum(row, from: 0) } ?? UsageSum()
    }

    private func sum(_ query: SQL, _ value: some Storable, key: String) throws -> UsageSum {
        try first(query, value) { row in try Self.sum(row, from: 0, key: key) } ?? UsageSum(key: key)
    }

    /// Its places are those of `usage(by:)`: session, project, provider, model, first and last day, client.
    static func usageQuery(_ group: UsageGroup, _ filter: UsageFilter) -> SQL {
        // The numbers of all values stand in the text, wanted or not, and each condition can use its index.
        let session: SQL = filter.session == nil ? " WHERE ?1 IS NULL" : " WHERE session = ?1"
        let project: SQL = filter.project == nil ? " AND ?2 IS NULL" : " AND project = ?2"
        let provider: SQL = filter.provider == nil ? " AND ?3 IS NULL" : " AND provider = ?3"
        let model: SQL = filter.model == nil ? " AND ?4 IS NULL" : " AND model = ?4"
        let client: SQL = filter.client == nil ? " AND ?7 IS NULL" : " AND client = ?7"
        let condition = session + project + provider + model + " AND day >= ?5 AND day <= ?6" + client
        let most: SQL = " ORDER BY coalesce(sum(input), 0) + coalesce(sum(output), 0) DESC, 1"
        return switch group {
        case .message:
            """
            SELECT message, 1, input, output, cached, cache_write, reasoning, cost, cost IS NULL FROM usage
            """ + condition + " ORDER BY id"
        case .session: "SELECT session, " + sums + condition + " GROUP BY session" + most
        case .client: "SELECT client, " + sums + condition + " GROUP BY client" + most
        case .project: "SELECT project, " + sums + condition + " GROUP BY project" + most
        case .model:
            "SELECT provider || '/' || model, " + sums + condition + " GROUP BY provider, model" + most
        case .day: "SELECT day, " + sums + condition + " GROUP BY day ORDER BY day"
        }
    }

    /// How many answers, the six numbers of their usage, and how many are not priced, from a column on.
    static func sum(_ row: borrowing Row, from column: Int, key: String? = nil) throws -> UsageSum {
        UsageSum(
            key: key, answers: try row[column], usage: try usage(row, from: column + 1), unpriced: try row[column + 7])
    }

    static func usage(_ row: borrowing Row, from column: Int) throws -> Usage {
        let cost: Int? = try row[column + 5]
        return Usage(
            inputTokens: try row[column], outputTokens: try row[column + 1], cachedTokens: try row[column + 2],
            cacheWriteTokens: try row[column + 3], reasoningTokens: try row[column + 4],
            cost: cost.map(Cost.init(nanodollars:)))
    }
}
