import Capabilities
import HTTPTesting
import StorageKit
import Testing
import TurnLoop

@testable import GatewayStore

@Suite("A hundred thousand messages", .timeLimit(.minutes(5)))
struct SizeTests {
    /// 200 sessions of 10 projects with 500 messages each, half of them answers.
    private static func fill(_ store: GatewayStore) async throws -> [Session] {
        var projects: [String] = []
        for number in 0..<10 {
            let budget = ProjectBudget(
                project: BudgetLimit(tokens: 1 << 40), session: BudgetLimit(cost: Cost(nanodollars: 1 << 50)))
            projects.append(
                try await store.createProject(NewProject(name: "p\(number)", path: "/srv/\(number)", budget: budget)).id
            )
        }
        var sessions: [Session] = []
        for number in 0..<200 {
            let session = try await store.createSession(NewSession(project: projects[number % 10], model: "m"))
            sessions.append(session)
            let lease = try await store.beginTurn(session: session.id)
            let time = store.now()
            try await store.database.write { connection in
                for number in 0..<500 {
                    let isAnswer = !number.isMultiple(of: 2)
                    let usage = Usage(inputTokens: 10, outputTokens: 1, cost: Cost(nanodollars: 7))
                    let message = TurnMessage(
                        Message(isAnswer ? .assistant : .user, "message \(number)"), usage: isAnswer ? usage : nil)
                    let id = try connection.insert(message, provider: "p", model: "m", lease: lease, at: time)
                    guard isAnswer else { continue }
                    let entry = UsageEntry(
                        project: session.project, session: session.id, provider: "p", model: "m", usage: usage)
                    try connection.account(entry, message: id, at: time)
                }
            }
            try await store.endTurn(lease)
        }
        return sessions
    }

    @Test("Totals are right and quick, since no statement scans the answers")
    func totals() async throws {
        try await withStore { store in
            let sessions = try await Self.fill(store)
            let session = sessions[117]
            #expect(try await store.number("SELECT count(*) FROM messages") == 100_000)
            let clock = ContinuousClock()
            func quick<Value>(_ body: () async throws -> Value) async throws -> Value {
                for _ in 0..<20 {
                    let start = clock.now
                    let value = try await body()
                    // Some milliseconds on an idle machine, so that one of a few is quick on a busy one too. A scan always
                    // takes longer than the limit in debug builds.
                    if clock.now - start < .seconds(2) { return value }
                }
                throw ValueError("each of twenty attempts took more than two seconds")
            }
            let stats = try await quick { try await store.stats() }
            #expect(stats.messages == 100_000 && stats.sessions == 200 && stats.usage.answers == 50_000)
            #expect(stats.usage.usage.cost == Cost(nanodollars: 350_000) && stats.usage.tokens == 550_000)
            let budget = try await quick {
                try await store.checkBudget(session: session.id, day: BudgetLimit(tokens: 1))
            }
            #expect(budget.lines.map(\.used.answers) == [250, 5000, 50_000] && budget.spent?.scope == .day)
            let projects = try await quick { try await store.projects() }
            #expect(projects.items.allSatisfy { $0.sessions == 20 && $0.usage.answers == 5000 } && projects.total == 10)
            let page = try await quick { try await store.sessions(page: PageRequest(number: 2, size: 100)) }
            #expect(page.total == 200 && page.items.allSatisfy { $0.messages == 500 && $0.usage.answers == 250 })
            for group in [UsageGroup.session, .project, .model, .day] {
                let sums = try await quick { try await store.usage(by: group) }
                #expect(sums.reduce(0) { $0 + $1.answers } == 50_000)
            }
            let mine = try await quick {
                try await store.usage(by: .message, UsageFilter(session: session.id))
            }
            #expect(mine.count == 250)
            let last = try await quick {
                try await store.storedMessages(of: session.id, page: PageRequest(number: 50, size: 10))
            }
            #expect(last.items.last?.message.text == "message 499")
            #expect(try await quick { try await store.messages(of: session.id) }.count == 500)
            #expect(try await quick { try await store.lastAnswer(of: session.id) }?.message.text == "message 499")
            try await quick { try await store.talk("one", "more", in: session.id) }
            try await quick { try await store.deleteSession(session.id) }
            try await Self.checkPlans(store)
        }
    }

    /// Each statement finds its rows by an index, and lists are ordered by one.
    private static func checkPlans(_ store: GatewayStore) async throws {
        let one = UsageFilter(session: "x")
        let plans = try await store.database.read { connection in
            [
                try connection.plan(Connection.sessionSum, "x"), try connection.plan(Connection.projectSum, "x"),
                try connection.plan(Connection.daySum, 1), try connection.plan(Connection.clientSum, 1, "x"),
                try connection.plan(Connection.usageQuery(.message, one), "x", nil, nil, nil, 0, 1, nil),
                try connection.plan(Connection.usageQuery(.day, one), "x", nil, nil, nil, 0, 1, nil),
                try connection.plan(
                    Connection.usageQuery(.day, UsageFilter(project: "x")), nil, "x", nil, nil, 0, 1, nil),
                try connection.plan(Connection.messageColumns + " WHERE m.session = ? ORDER BY m.position", "x"),
                try connection.plan(
                    Connection.messageColumns
                        + " WHERE m.session = ? AND m.role = 'assistant' ORDER BY m.position DESC LIMIT 1", "x"),
                try connection.plan(
                    Connection.sessionColumns
                        + " WHERE project = ?1 ORDER BY updated DESC, sessions.id DESC LIMIT ?2 OFFSET ?3", "x", 1, 1),
                try connection.plan("DELETE FROM sessions WHERE id = ?", "x"),
            ]
        }
        for steps in plans {
            let isGood = steps.allSatisfy { $0.hasPrefix("SEARCH") || $0 == "USE TEMP B-TREE FOR GROUP BY" }
            #expect(isGood && !steps.isEmpty, "\(steps)")
        }
        // A list of all sessions is read along the index in its order, up to the end of the page.
        let list = try await store.database.read { connection in
            try connection.plan(
                Connection.sessionColumns
                    + " WHERE ?1 IS NULL ORDER BY updated DESC, sessions.id DESC LIMIT ?2 OFFSET ?3", nil, 1, 1)
        }
        #expect(list.first == "SCAN sessions USING INDEX sessions_updated" && list.allSatisfy { !$0.contains("TEMP") })
    }
}

extension Connection {
    /// SQLite's query plan for a statement.
    fileprivate func plan(_ sql: SQL, _ values: (any Storable & Sendable)?...) throws -> [String] {
        let stored = values.map { $0?.stored ?? .null }
        let explained = "EXPLAIN QUERY PLAN " + sql
        func detail(_ row: borrowing Row) throws -> String { try row[3] }
        switch stored.count {
        case 1: return try all(explained, stored[0], row: detail)
        case 2: return try all(explained, stored[0], stored[1], row: detail)
        case 3: return try all(explained, stored[0], stored[1], stored[2], row: detail)
        case 4: return try all(explained, stored[0], stored[1], stored[2], stored[3], row: detail)
        case 6:
            return try all(
                explained, stored[0], stored[1], stored[2], stored[3], stored[4], stored[5], row: detail)
        case 7:
            return try all(
                explained, stored[0], stored[1], stored[2], stored[3], stored[4], stored[5], stored[6], row: detail)
        default: throw TestProblem("a statement of \(stored.count) values")
        }
    }
}
