import Capabilities
import GatewayStore
import JSON
import StorageKit
import Testing

@Suite("The audit log", .timeLimit(.minutes(5)))
struct AuditTests {
    @Test("Entries come back unchanged, newest first, for a session, a project or all")
    func list() async throws {
        try await withStore { store in
            for number in 0..<5 {
                try await store.audit(
                    AuditEntry(
                        project: "p\(number % 2)", session: "s\(number)", actor: "model", action: "tool.call",
                        subject: "bash.run", decision: "denied: nobody", detail: ["command": "ls", "n": .int(number)]))
            }
            try await store.audit(AuditEntry(actor: "gateway", action: "drain"))
            let all = try await store.auditEntries(page: PageRequest(size: 2))
            #expect(all.total == 6 && all.items.map(\.action) == ["drain", "tool.call"])
            var wanted = AuditEntry(
                project: "p0", session: "s4", actor: "model", action: "tool.call", subject: "bash.run",
                decision: "denied: nobody", detail: ["command": "ls", "n": 4])
            (wanted.number, wanted.time) = (all.items[1].number, all.items[1].time)
            #expect(all.items[1] == wanted && wanted.number == 5 && wanted.time != nil)
            #expect(all.items[0].session == nil && all.items[0].detail.isNull)
            let project = try await store.auditEntries(project: "p0")
            #expect(project.items.map(\.session) == ["s4", "s2", "s0"])
            #expect(try await store.auditEntries(session: "s3").items.count == 1)
            #expect(try await store.auditEntries(session: "s3", project: "p0").total == 0)
        }
    }

    @Test("Only the beginning of large details is kept, cut between characters")
    func large() async throws {
        try await withStore { store in
            for prefix in ["", "a", "ab"] {
                let text = prefix + String(repeating: "€", count: 20_000)
                try await store.audit(
                    AuditEntry(actor: "model", action: "tool.call", detail: ["content": .string(text)]))
                let detail = try #require(try await store.auditEntries().items.first?.detail)
                let beginning = try #require(detail["beginning"]?.string)
                #expect(beginning.hasPrefix("{\"content\":\"\(prefix)€€") && beginning.utf8.count <= 16_384)
                #expect(beginning.utf8.count > 16_380 && !beginning.contains("\u{FFFD}"))
                #expect(detail["bytes"]?.int == 60_014 + prefix.utf8.count)
            }
        }
    }
}
