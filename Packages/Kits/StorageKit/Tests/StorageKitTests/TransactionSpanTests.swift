import Capabilities
import CoreTesting
import JSON
import StorageKit
import Testing

@Suite("Spans of transactions", .timeLimit(.minutes(5)))
struct TransactionSpanTests {
    private struct Stop: Error {}

    /// What is recorded of the work with a database within a span.
    private func spans(isTraced: Bool = true, of work: (Database) async throws -> Void) async throws -> [TraceSpan] {
        let sink = RecordingSpanSink()
        try await TemporaryDirectory.run { folder in
            let database = Database("\(folder)/secret-place.db", migrations: notes, isTraced: isTraced)
            try await Tracer(sinks: [sink], now: Timestamp.now).span("work", of: "test") { _ in
                try await work(database)
            }
            await database.close()
        }
        return sink.spans
    }

    @Test("A write is a span, and a read only if it fails or takes long; neither has a statement or a value")
    func written() async throws {
        let spans = try await spans { database in
            try await database.write { try $0.add("hunter22") }
            try database.writeNow { try $0.add("hunter22") }
            _ = try await database.read { try $0.count }
            try await database.read { _ in
                let start = ContinuousClock.now
                while ContinuousClock.now - start < .milliseconds(11) {}
            }
            // What the caller throws is no failure of the database.
            await #expect(throws: Stop.self) { try await database.write { _ in throw Stop() } }
            await #expect(throws: Stop.self) { try await database.read { _ in throw Stop() } }
            await #expect(throws: StorageError.self) { try await database.write { try $0.run("INSERT INTO nowhere") } }
            #expect(throws: StorageError.self) { try database.readNow { try $0.run("SELECT 1 FROM nowhere") } }
        }
        let (read, write) = ("read secret-place.db", "write secret-place.db")
        // A read by a busy machine may take long too.
        let names = spans.map(\.name).filter { $0 != read }
        #expect(names == [write, write, write, write, "work"])
        let reads = spans.filter { $0.name == read }.map(\.failure)
        #expect((2...4).contains(reads.count) && reads.first == .some(nil) && reads.last == "storage.statement")
        #expect(spans.filter { $0.name == write }.map(\.failure) == [nil, nil, nil, "storage.statement"])
        #expect(spans.first?.kind == .client && spans.first?.attributes["db.system.name"] == "sqlite")
        #expect(spans.first?.attributes["db.namespace"] == "secret-place.db")
        #expect(!"\(spans)".contains("hunter22") && !"\(spans)".contains("INSERT") && !"\(spans)".contains("/tmp"))
    }

    @Test("Of a database that is not traced nothing is recorded")
    func silent() async throws {
        let spans = try await spans(isTraced: false) { database in
            try await database.write { try $0.add("x") }
            await #expect(throws: StorageError.self) { try await database.read { try $0.run("SELECT 1 FROM nowhere") } }
        }
        #expect(spans.map(\.name) == ["work"])
    }
}
