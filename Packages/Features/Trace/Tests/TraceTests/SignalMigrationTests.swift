import Capabilities
import CoreTesting
import StorageKit
import Testing
import TraceKit

@testable import TraceStore

@Suite("A database from before the log was sent", .timeLimit(.minutes(5)))
struct SignalMigrationTests {
    @Test("It keeps what it knows of collectors, and what waits for them")
    func keeps() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/trace.db"
            let span = try SampleSpan().span
            // Those up to "metrics"; released ones never change.
            let earlier = Database(path, migrations: Array(TraceStore.migrations.prefix(8)))
            try await earlier.write { connection in
                try connection.run(
                    """
                    INSERT INTO collectors (number, address, used, sent, refused, expired, attempts, problem)
                        VALUES (4, 'http://c', 1, 10, 2, 3, 5, 'away')
                    """)
                try connection.run(
                    "INSERT INTO unsent (collector, trace, span) VALUES (4, ?, ?)", span.context.trace.bytes,
                    span.context.span.bytes)
            }
            await earlier.close()
            let store = TraceStore(
                TraceStore.database(at: path), spools: "\(folder)/spool", budget: TraceStore.Budget()
            ) { Timestamp(microseconds: 9) }
            try await store.add([span])
            let state = try await store.state(of: .traces, forCollector: "http://c")
            #expect((state.sent, state.refused, state.expired, state.attempts) == (10, 2, 3, 5))
            #expect(state.problem == "away" && state.waiting == 1)
            let waiting = try await store.waiting(StoredSpan.self, forCollector: "http://c", limit: 9)
            #expect(waiting.map(\.span.name) == [span.name])
            // The same address is another collector for the log.
            try await store.postpone(
                .logs, collector: "http://c", until: Timestamp(microseconds: 99), because: "logs away")
            #expect(try await store.state(of: .logs, forCollector: "http://c").problem == "logs away")
            #expect(try await store.state(of: .traces, forCollector: "http://c").problem == "away")
            await store.close()
        }
    }
}
