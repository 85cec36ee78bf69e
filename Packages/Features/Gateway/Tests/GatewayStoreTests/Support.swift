import Capabilities
import CoreTesting
import Glibc
import HTTPTesting
import StorageKit
import Synchronization
import Testing
import TurnLoop

@testable import GatewayStore

/// A clock that advances by one second with every read.
final class Days: Sendable {
    /// 2026-11-21T09:30:00Z
    static let start = Timestamp(microseconds: 1_795_253_400_000_000)
    private let seconds = Mutex(0)

    var next: Timestamp {
        seconds.withLock { seconds in
            seconds += 1
            return Timestamp(microseconds: Self.start.microseconds + Int64(seconds) * 1_000_000)
        }
    }

    func skip(days: Int) {
        seconds.withLock { $0 += days * 86_400 }
    }
}

extension GatewayStore {
    /// The store in a folder, for tests and their child processes.
    static func open(_ folder: String, days: Days = Days(), audit log: RecordingAuditLog? = nil) -> GatewayStore {
        GatewayStore(database(at: "\(folder)/gateway.db"), audit: { log }, now: { days.next })
    }

    /// A session with its own project.
    func makeSession(budget: ProjectBudget = ProjectBudget()) async throws -> Session {
        let project = try await createProject(NewProject(name: "Sample", path: "/srv/sample", budget: budget))
        return try await createSession(NewSession(project: project.id, model: "m"))
    }

    /// One turn: a question and an answer.
    func talk(
        _ question: String, _ answer: String, in session: String, usage: Usage? = Usage(inputTokens: 2, outputTokens: 1)
    ) async throws {
        let lease = try await beginTurn(session: session)
        try await append(TurnMessage(Message(.user, question)), lease: lease)
        try await append(
            TurnMessage(Message(.assistant, answer), usage: usage), provider: "p", model: "m", lease: lease)
        try await endTurn(lease)
    }

    /// The number that a query returns, for values that the API does not show.
    func number(_ sql: SQL) async throws -> Int {
        try await database.read { connection in try connection.first(sql) { row in try row[0] as Int } ?? -1 }
    }

    /// Checks that redundant data agrees: sums with the answers, counts with the messages.
    func checkSums() async throws {
        let differing = try await number(
            """
            SELECT count(*) FROM (SELECT day, client, project, session, provider, model, sum(answers), sum(input),
                sum(output), sum(cached), sum(cache_write), sum(reasoning), sum(cost), sum(unpriced) FROM usage_days
                GROUP BY 1, 2, 3, 4, 5, 6
            EXCEPT SELECT day, client, project, session, provider, model, count(*), sum(input), sum(output), sum(cached),
                sum(cache_write), sum(reasoning), sum(cost), sum(cost IS NULL) FROM usage GROUP BY 1, 2, 3, 4, 5, 6)
            """)
        #expect(differing == 0)
        let answers = try await number("SELECT coalesce(sum(answers), 0) FROM usage_days")
        #expect(try await number("SELECT count(*) FROM usage") == answers)
        let miscounted = try await number(
            """
            SELECT count(*) FROM sessions WHERE messages != (SELECT count(*) FROM messages WHERE session = sessions.id)
                OR messages != (SELECT coalesce(max(position) + 1, 0) FROM messages WHERE session = sessions.id)
            """)
        #expect(miscounted == 0)
    }
}

/// Runs `body` with a store in its own folder, and checks that its file is intact in the end.
func withStore(
    isolation: isolated (any Actor)? = #isolation, days: Days = Days(),
    audit log: RecordingAuditLog? = RecordingAuditLog(),
    _ body: (GatewayStore) async throws -> Void
) async throws {
    try await TemporaryDirectory.run { folder in
        let store = GatewayStore.open(folder, days: days, audit: log)
        try await body(store)
        try await store.checkSums()
        #expect(try await store.database.check() == [])
        await store.close()
    }
}

/// The reason of the `GatewayStoreError` that the body must throw.
func failure(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> some Any
) async throws -> GatewayStoreError.Kind {
    do {
        _ = try await body()
    } catch let error as GatewayStoreError {
        #expect(!error.message.hasSuffix(".") && error.code == error.kind.description)
        return error.kind
    }
    throw TestProblem("nothing was refused")
}

struct TestProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Whether a provider would accept a history: each call has one result right after its message.
func isValid(_ messages: [Message]) -> Bool {
    var open: [String] = []
    for message in messages {
        if message.role == .tool {
            let results = message.parts.compactMap { if case .result(let result) = $0 { result.call } else { nil } }
            if results != open || open.isEmpty { return false }
            open = []
        } else {
            if !open.isEmpty { return false }
            open = message.calls.filter { !$0.isDone }.map(\.id)
        }
    }
    return open.isEmpty
}
