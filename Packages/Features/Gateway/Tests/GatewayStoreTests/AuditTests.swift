import Capabilities
import CoreTesting
import JSON
import ModelKit
import StorageKit
import Testing
import TurnLoop

@testable import GatewayStore

@Suite("The audit log of the gateway", .timeLimit(.minutes(5)))
struct AuditTests {
    /// Writes rows as the versions did that had the log in this database.
    private static func writeOld(_ numbers: ClosedRange<Int>, to store: GatewayStore) async throws {
        try await store.database.write { connection in
            for number in numbers {
                let detail: JSON = [
                    "id": "c", "state": "done", "input": ["n": .int(number)], "source": "files", "effect": "writes",
                ]
                try connection.run(
                    """
                    INSERT INTO audit (time, project, session, actor, action, subject, decision, detail)
                        VALUES (?, ?, ?, 'model', 'tool.call', ?, 'allowed by the client', ?)
                    """, number * 1000, "p", "s\(number % 2)", "tool \(number)", Written(detail))
            }
        }
    }

    @Test("Entries are recorded in the log and listed from it, by session, project and page")
    func list() async throws {
        try await withStore { store in
            for number in 0..<5 {
                try await store.audit(
                    AuditEntry(
                        project: "p\(number % 2)", session: "s\(number)", actor: "model", action: "tool.call",
                        detail: ["n": .int(number)]))
            }
            try await store.audit(AuditEntry(actor: "gateway", action: "drain"))
            let all = try #require(try await store.auditEntries(page: PageRequest(number: 2, size: 2)))
            #expect(all.total == 6 && all.items.map { $0.detail["n"] } == [3, 2] && all.hasNext)
            #expect(try await store.auditEntries(project: "p0")?.items.map(\.session) == ["s4", "s2", "s0"])
            #expect(try await store.auditEntries(session: "s3")?.items.count == 1)
            #expect(try await store.auditEntries(session: "s3", project: "p0")?.total == 0)
            #expect(try await store.number("SELECT count(*) FROM audit") == 0)
        }
    }

    @Test("Without a log nothing is recorded, and there is no list")
    func without() async throws {
        try await withStore(audit: nil) { store in
            try await Self.writeOld(1...3, to: store)
            try await store.audit(AuditEntry(actor: "gateway", action: "drain"))
            #expect(try await store.auditEntries() == nil)
            #expect(await store.callAudit(session: "s", project: nil, client: nil, hasReads: true) == nil)
            #expect(!store.hasAudit)
            // What was recorded before stays until there is a log again.
            #expect(try await store.number("SELECT count(*) FROM audit") == 3)
        }
    }

    @Test("Rows of before move into the log once, with their numbers, times and details")
    func takeOver() async throws {
        let log = RecordingAuditLog()
        try await withStore(audit: log) { store in
            try await Self.writeOld(1...1203, to: store)
            try await store.audit(AuditEntry(actor: "gateway", action: "drain"))
            #expect(log.recorded.count == 1204)
            #expect(log.recorded.last?.action == "drain", "what is new comes after what was there")
            for (index, entry) in log.recorded.dropLast().enumerated() {
                #expect(entry.subject == "tool \(index + 1)" && entry.time?.microseconds == Int64(index + 1) * 1000)
            }
            let first = try #require(log.recorded.first)
            #expect(first.origin == "gateway.db" && first.source == "files" && first.outcome == "done")
            #expect(first.detail["input"] == ["n": 1] && first.decision == "allowed by the client")
            #expect(try await store.number("SELECT count(*) FROM audit") == 0)
            #expect(try await store.auditEntries(session: "s1", page: PageRequest(size: 1))?.total == 602)
        }
    }

    @Test("A move that was interrupted continues, whether the log or the table had the last word")
    func interrupted() async throws {
        let log = RecordingAuditLog()
        try await TemporaryDirectory.run { folder in
            let store = GatewayStore.open(folder, audit: log)
            try await Self.writeOld(1...700, to: store)
            // The log has some of the entries, and the table still all of them.
            let some = (1...600).map { number -> AuditEntry in
                var entry = AuditEntry(actor: "model", action: "tool.call", subject: "tool \(number)")
                (entry.number, entry.time) = (number, Timestamp(microseconds: 1))
                return entry
            }
            _ = try await log.takeOver(some, from: "gateway.db")
            log.fail(with: StorageFault())
            await #expect(throws: StorageFault.self) { _ = try await store.auditEntries() }
            #expect(try await store.number("SELECT count(*) FROM audit") == 700, "nothing leaves before it is there")
            log.fail(with: nil)
            #expect(try await store.auditEntries()?.total == 700)
            #expect(log.recorded.map(\.subject) == (1...700).map { "tool \($0)" })
            await store.close()

            // An older version wrote again meanwhile; numbers are not used twice.
            let later = GatewayStore.open(folder, audit: log)
            try await Self.writeOld(701...703, to: later)
            #expect(try await later.number("SELECT min(id) FROM audit") == 701)
            #expect(try await later.auditEntries()?.total == 703)
            await later.close()
        }
    }

    @Test("Several gateways move the same rows at once, and none is doubled")
    func together() async throws {
        let log = RecordingAuditLog()
        try await TemporaryDirectory.run { folder in
            let stores = (0..<4).map { _ in GatewayStore.open(folder, audit: log) }
            try await Self.writeOld(1...1500, to: stores[0])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores { group.addTask { _ = try await store.auditEntries() } }
                try await group.waitForAll()
            }
            #expect(log.recorded.map(\.subject) == (1...1500).map { "tool \($0)" })
            for store in stores { await store.close() }
        }
    }

    @Test("Content of deleted sessions is erased from the log, and that of others stays")
    func erasing() async throws {
        let log = RecordingAuditLog()
        try await withStore(audit: log) { store in
            let (gone, stays) = (try await store.makeSession(), try await store.makeSession())
            for session in [gone, stays] {
                try await store.audit(
                    AuditEntry(session: session.id, actor: "model", action: "tool.call", detail: ["input": "x"]))
            }
            try await store.deleteSession(gone.id)
            #expect(try await store.blankAudit() == 1)
            #expect(log.erased == [.session(gone.id)])
            #expect(try await store.blankAudit() == 0)
            try await store.erase(sessions: [stays.id])
            #expect(log.erased == [.session(gone.id), .session(stays.id)])
        }
    }

    @Test("Of conversations that are not saved, only what was done is recorded")
    func passing() async throws {
        let log = RecordingAuditLog()
        let store = GatewayStore.inMemory(audit: { log }, now: { Days.start })
        try await store.audit(
            AuditEntry(
                project: "p", session: "s", actor: "model", action: "tool.call", subject: "write",
                detail: ["input": "x", "effect": "writes"]))
        #expect(log.recorded.map(\.detail) == [["effect": "writes"]])
        #expect(log.recorded.first?.session == nil && log.recorded.first?.project == nil)
        let audit = try #require(await store.callAudit(session: "s", project: "p", client: nil, hasReads: false))
        #expect(!audit.hasInput && audit.session == nil && audit.project == nil)
        await store.close()
    }
}

struct StorageFault: Failure {
    let code = "storage.full"
    let message = "no space left"
}
