public import Capabilities
import StorageKit
import Synchronization

extension GatewayStore {
    /// Counts an answer that belongs to no stored message. It also works in a cancelled task.
    public func account(_ entry: UsageEntry) async throws {
        var entry = entry
        (entry.provider, entry.model) = (kept(entry.provider), kept(entry.model))
        try await accounts.add(entry, at: now())
    }

    /// Sums of usage. Messages and days come in chronological order, other groups by the number of tokens, largest
    /// first.
    public func usage(by group: UsageGroup, _ filter: UsageFilter = UsageFilter()) async throws -> [UsageSum] {
        let (from, through) = (filter.from?.number ?? .min, filter.through?.number ?? .max)
        let query = Connection.usageQuery(group, filter)
        return try await database.read { connection in
            try connection.all(
                query, filter.session, filter.project, filter.provider, filter.model, from, through, filter.client
            ) { row in
                let key: StoredValue = try row[0]
                return try Connection.sum(row, from: 1, key: Self.key(key, group))
            }
        }
    }

    private static func key(_ stored: StoredValue, _ group: UsageGroup) -> String? {
        switch stored {
        case .integer(let number): group == .day ? Day(number: Int(number)).description : String(number)
        case .text(let text): text.isEmpty ? nil : text
        default: nil
        }
    }
}

/// The usage of one answer.
public struct UsageEntry: Sendable, Hashable {
    /// The id of the project; nil outside of any.
    public var project: String?
    /// The id of the session; nil outside of any.
    public var session: String?
    /// The client's name.
    public var client: String?
    /// The id of the provider.
    public var provider: String
    /// The model's id at its provider.
    public var model: String
    /// What the provider reported. Implausible values count as unknown.
    public var usage: Usage

    /// The usage of an answer that is to be counted.
    public init(
        project: String? = nil, session: String? = nil, client: String? = nil, provider: String, model: String,
        usage: Usage
    ) {
        self.project = project
        self.session = session
        self.client = client
        self.provider = provider
        self.model = model
        self.usage = usage
    }
}

extension UsageSum {
    /// Adds usage that is not stored yet.
    static func + (sum: UsageSum, more: Usage) -> UsageSum {
        UsageSum(key: sum.key, answers: sum.answers, usage: sum.usage + more, unpriced: sum.unpriced)
    }
}

// MARK: Writing

extension Connection {
    /// Counts one answer, in its own row and in the daily sums.
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
    /// The usage without implausible values. Servers make mistakes, and a single one must not spoil all sums.
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

    /// The parameters are bound in `usage(by:)`, in this order: session, project, provider, model, first and last day,
    /// client.
    static func usageQuery(_ group: UsageGroup, _ filter: UsageFilter) -> SQL {
        // Each condition mentions its parameter even when it is not needed, so that the numbering stays and each can
        // use its index.
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

    /// Reads the number of answers, the six values of their usage, and the number without price, starting at a column.
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

/// Stores the usage of answers. Answers that end at the same time share one transaction.
final class AccountQueue: Sendable {
    private struct Waiting {
        let entry: UsageEntry
        let time: Timestamp
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var waiting: [Waiting] = []
        var isWriting = false
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private let database: Database
    private let state = Mutex(State())

    init(_ database: Database) {
        self.database = database
    }

    /// Returns when the entry is stored, also in a cancelled task, because usage always counts.
    func add(_ entry: UsageEntry, at time: Timestamp) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting.append(Waiting(entry: entry, time: time, continuation: continuation))
                return !exchange(&state.isWriting, with: true)
            }
            // This task ends when the last waiting caller is served.
            if isFirst { Task { await write() } }
        }
    }

    /// Waits until all entries are stored.
    func drained() async {
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                if state.isWriting { state.closers.append(continuation) }
                return !state.isWriting
            }
            if isQuiet { continuation.resume() }
        }
    }

    private func write() async {
        while let batch = take() {
            let result: Result<Void, any Error>
            do {
                try await database.write { connection in
                    for one in batch { try connection.account(one.entry, message: nil, at: one.time) }
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            for one in batch { one.continuation.resume(with: result) }
        }
    }

    /// The waiting entries. Returns nil when there are none; then the next caller starts a new task.
    private func take() -> [Waiting]? {
        let (batch, closers) = state.withLock { state -> ([Waiting]?, [CheckedContinuation<Void, Never>]) in
            guard state.waiting.isEmpty else { return (exchange(&state.waiting, with: []), []) }
            state.isWriting = false
            return (nil, exchange(&state.closers, with: []))
        }
        for closer in closers { closer.resume() }
        return batch
    }
}
