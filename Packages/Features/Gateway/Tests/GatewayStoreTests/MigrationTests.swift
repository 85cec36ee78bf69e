import Capabilities
import CoreTesting
import HTTPTesting
import StorageKit
import Testing

@testable import GatewayStore

@Suite("Migrations of the gateway's database", .timeLimit(.minutes(5)))
struct MigrationTests {
    @Test("A file of each older version opens with all its data, and its usage belongs to no client", arguments: 1...3)
    func older(steps: Int) async throws {
        try await TemporaryDirectory.run { folder in
            let old = Database("\(folder)/gateway.db", migrations: Array(GatewayStore.migrations.prefix(steps)))
            try await old.write { connection in
                try connection.runScript(
                    """
                    INSERT INTO projects VALUES ('P', 'Old', NULL, '/srv/old', '[]', 100, NULL, NULL, NULL, 1, 2);
                    INSERT INTO usage (day, time, project, session, provider, model, input, output, cost)
                        VALUES (20000, 1728000000000000, 'P', '', 'p', 'm', 7, 3, 5);
                    INSERT INTO usage_days (day, project, session, provider, model, answers, input, output, cost, unpriced)
                        VALUES (20000, 'P', '', 'p', 'm', 1, 7, 3, 5, 0);
                    """)
                if steps > 2 {
                    try connection.runScript(
                        "INSERT INTO clients (name, digest, scopes, created) VALUES ('ci', x'01', 'chat', 1)")
                }
            }
            await old.close()
            let days = Days()
            let store = GatewayStore.open(folder, days: days)
            let usage = Usage(inputTokens: 7, outputTokens: 3, cost: Cost(nanodollars: 5))
            #expect(try await store.usage(by: .client) == [UsageSum(answers: 1, usage: usage)])
            #expect(try await store.usage(by: .project) == [UsageSum(key: "P", answers: 1, usage: usage)])
            #expect(try await store.checkBudget(project: "P").remainingTokens == 90)
            let clients = try await store.clients()
            #expect(clients.map(\.name) == (steps > 2 ? ["ci"] : []) && clients.allSatisfy { $0.budget.isEmpty })
            try await store.account(
                UsageEntry(project: "P", client: "ci", provider: "p", model: "m", usage: usage))
            #expect(try await store.usage(by: .client).map(\.key) == [nil, "ci"])
            #expect(try await store.checkBudget(project: "P").remainingTokens == 80)
            try await store.checkSums()
            #expect(try await store.database.check() == [])
            await store.close()
        }
    }

    @Test("A file of a newer version is refused and left unchanged")
    func newer() async throws {
        try await TemporaryDirectory.run { folder in
            let migrations =
                GatewayStore.migrations + [Migration("later", "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT")]
            let newer = Database("\(folder)/gateway.db", migrations: migrations)
            try await newer.write { _ in }
            await newer.close()
            let store = GatewayStore.open(folder)
            let error = await #expect(throws: StorageError.self) { _ = try await store.clients() }
            #expect(error?.kind == .newer)
            await store.close()
        }
    }
}
