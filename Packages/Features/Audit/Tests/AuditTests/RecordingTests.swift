import Capabilities
import CoreTesting
import FileKit
import JSON
import StorageKit
import Testing

@testable import Audit

@Suite("What the audit log records", .timeLimit(.minutes(5)))
struct RecordingTests {
    @Test("An entry is listed with how it ended, and without that while it lasts")
    func completion() async throws {
        try await TestLog.run { log in
            let store = log.open()
            var entry = AuditEntry(
                project: "p", session: "s", conversation: "c", actor: "model", action: "tool.call", source: "files",
                subject: "write", decision: "allowed by the person", rule: "{}",
                detail: ["id": "1", "input": ["path": "a"]])
            let number = try await store.record(entry)
            entry.number = number
            var listed = try #require(try await store.entries(AuditQuery()).entries.first)
            #expect(listed.outcome == nil && listed.time != nil)
            listed.time = nil
            // The members keep their order.
            #expect(listed == entry)
            #expect(listed.detail.text() == #"{"id":"1","input":{"path":"a"}}"#)

            try await store.complete(number, AuditCompletion(outcome: "done", detail: ["exit_code": 3]))
            let page = try await store.entries(AuditQuery())
            #expect(page.total == 1 && page.entries.count == 1)
            #expect(page.entries.first?.outcome == "done")
            #expect(page.entries.first?.detail.text() == #"{"id":"1","input":{"path":"a"},"exit_code":3}"#)
            // It ends once.
            await #expect(throws: StorageError.self) {
                try await store.complete(number, AuditCompletion(outcome: "failed"))
            }
            await store.close()
        }
    }

    @Test("Lines are stored together in their order, or none of them")
    func together() async throws {
        try await TestLog.run { log in
            let store = log.open()
            func entry(_ subject: String) -> AuditLine {
                .entry(AuditEntry(actor: "model", action: "tool.call", subject: subject))
            }
            let done = AuditCompletion(outcome: "done")
            #expect(try await store.append([entry("a"), entry("b")]) == [1, 2])
            #expect(try await store.append([.end(of: 2, done), entry("c"), .end(of: 1, done)]) == [4])
            #expect(try await store.append([]) == [])
            // The second entry has ended, so nothing of this is stored.
            await #expect(throws: StorageError.self) { try await store.append([entry("d"), .end(of: 2, done)]) }
            #expect(try await store.append([.end(of: 4, done)]) == [])
            let entries = try await store.entries(AuditQuery()).entries
            #expect(entries.map(\.subject) == ["c", "b", "a"] && entries.allSatisfy { $0.outcome == "done" })
            await store.close()
            let verdict = try await log.verify()
            #expect(verdict.found == [] && verdict.entries == 6 && verdict.sealedThrough == 6)
        }
    }

    @Test("Entries are listed newest first, by page, and by each filter")
    func filters() async throws {
        try await TestLog.run { log in
            let store = log.open()
            #expect(try await store.entries(AuditQuery()) == AuditPage(entries: [], total: 0))
            for number in 0..<12 {
                try await store.record(
                    AuditEntry(
                        project: number % 2 == 0 ? "even" : nil, session: "s\(number % 3)",
                        conversation: number == 5 ? "c" : nil, actor: number == 7 ? "client" : "model",
                        action: number < 2 ? "turn.stopped" : "tool.call", subject: "\(number)"))
            }
            func subjects(_ change: (inout AuditQuery) -> Void) async throws -> [String?] {
                var query = AuditQuery()
                change(&query)
                let page = try await store.entries(query)
                if query.offset == 0 { #expect(page.total == page.entries.count || page.entries.count == query.limit) }
                return page.entries.map(\.subject)
            }
            #expect(try await subjects { $0.limit = 3 } == ["11", "10", "9"])
            #expect(try await subjects { ($0.limit, $0.offset) = (3, 3) } == ["8", "7", "6"])
            #expect(try await subjects { $0.project = "even" } == ["10", "8", "6", "4", "2", "0"])
            #expect(try await subjects { $0.session = "s1" } == ["10", "7", "4", "1"])
            #expect(try await subjects { ($0.session, $0.project) = ("s1", "even") } == ["10", "4"])
            #expect(try await subjects { $0.conversation = "c" } == ["5"])
            #expect(try await subjects { $0.actor = "client" } == ["7"])
            #expect(try await subjects { $0.action = "turn.stopped" } == ["1", "0"])
            let times = try await store.entries(AuditQuery()).entries.compactMap(\.time)
            #expect(try await subjects { $0.since = times[1] } == ["11", "10"])
            #expect(try await subjects { $0.until = times[9] } == ["1", "0"])
            #expect(try await store.entries(AuditQuery(limit: 1)).total == 12)
            await store.close()
        }
    }

    @Test("No secret is in the bytes of the files, wherever an entry has one")
    func secrets() async throws {
        try await TestLog.run { log in
            let (secret, plain) = (canary(), canary())
            log.redactor.learn(Secret(secret))
            let store = log.open()
            let number = try await store.record(
                AuditEntry(
                    project: secret, session: secret, conversation: secret, actor: secret, action: secret,
                    source: secret, subject: secret, decision: secret, rule: "{\"a\":\"\(secret)\"}", outcome: secret,
                    detail: ["id": .string(secret), "input": [secret: .string(secret), "plain": .string(plain)]]))
            try await store.complete(number, AuditCompletion(outcome: secret, detail: [secret: .string(secret)]))
            _ = try await store.takeOver([Self.old(1, secret)], from: "gateway")
            try await store.record(
                AuditEntry(actor: "a", action: "b", detail: .string(String(repeating: secret, count: 2000))))
            let text = try await store.exported()
            #expect(!text.contains(secret) && text.contains(plain))
            #expect(try !secret.isInFiles(of: log.folder))
            await store.close()
            #expect(try !secret.isInFiles(of: log.folder))
            // The control: what is no secret is found in the same way.
            #expect(try plain.isInFiles(of: log.folder))
            let key = try #require(log.vault.edit { $0.secrets[SealKey.name] })
            #expect(try !key.withText { try $0.isInFiles(of: log.folder) })
            #expect(try await log.verify().found == [])
        }
    }

    private static func old(_ number: Int, _ subject: String) -> AuditEntry {
        var entry = AuditEntry(session: "s", actor: "model", action: "tool.call", subject: subject)
        (entry.number, entry.time) = (number, Timestamp(microseconds: Int64(number)))
        return entry
    }

    @Test("Only the beginning of large details is stored, and what is short beside them", arguments: ["x", "ä", "👩‍👩‍👧"])
    func large(character: String) async throws {
        try await TestLog.run { log in
            let store = log.open()
            let text = String(repeating: character, count: 60_000)
            try await store.record(
                AuditEntry(actor: "model", action: "tool.call", detail: ["id": "1", "input": .string(text)]))
            try await store.record(AuditEntry(actor: "model", action: "tool.call", detail: ["other": .string(text)]))
            try await store.record(AuditEntry(actor: "model", action: "x", subject: text, detail: .string(text)))
            for entry in try await store.entries(AuditQuery()).entries {
                #expect(entry.detail.text().utf8.count < 40_000)
                #expect(entry.detail["bytes"]?.int ?? 0 > 60_000)
                #expect(entry.detail["beginning"]?.string?.contains(character) == true)
                #expect((entry.subject ?? "").utf8.count <= 1024)
            }
            #expect(try await store.entries(AuditQuery()).entries.last?.detail["id"] == "1")
            await store.close()
            #expect(try await log.verify().found == [])
        }
    }

    @Test("Entries of an earlier log are taken over once, with their times, whoever does it at the same time")
    func takeOver() async throws {
        try await TestLog.run { log in
            let old = (1...300).map { Self.old($0 * 2, "old \($0)") }
            let stores = [log.open(), log.open(), log.open()]
            #expect(try await stores[0].takeOver([], from: "gateway") == 0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores {
                    group.addTask {
                        // Each continues where any of them is.
                        while true {
                            let known = try await store.takeOver([], from: "gateway")
                            let next = old.filter { ($0.number ?? 0) > known }.prefix(7)
                            guard !next.isEmpty else { break }
                            _ = try await store.takeOver(Array(next), from: "gateway")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await stores[0].takeOver(old, from: "gateway") == 600)
            // The numbers of another log are not the same.
            #expect(try await stores[0].takeOver([Self.old(2, "b")], from: "other") == 2)
            let page = try await stores[1].entries(AuditQuery(limit: 1000))
            #expect(page.total == 301)
            #expect(page.entries.reversed().map(\.subject) == (1...300).map { "old \($0)" } + ["b"])
            #expect(page.entries.last?.time == Timestamp(microseconds: 2))
            #expect(page.entries.last?.origin == "gateway")
            for store in stores { await store.close() }
            #expect(try await log.verify().found == [])
        }
    }

    @Test("Content goes with its conversation, from the files too, and the chain stays whole")
    func erasing() async throws {
        try await TestLog.run { log in
            let (gone, stays) = (canary(), canary())
            let store = log.open()
            for (session, text) in [("a", gone), ("b", stays), ("a", gone)] {
                let detail: JSON = ["effect": "writes", "input": .string(text)]
                try await store.record(
                    AuditEntry(session: session, actor: "model", action: "tool.call", detail: detail))
            }
            try await store.record(
                AuditEntry(conversation: "c", actor: "model", action: "tool.call", detail: ["message": .string(gone)]))
            #expect(Set(try await store.places()) == [.session("a"), .session("b"), .conversation("c")])
            #expect(try await store.eraseContent(of: [.session("a"), .conversation("c"), .session("none")]) == 3)
            #expect(try await store.eraseContent(of: [.session("a")]) == 0)
            #expect(try await store.places() == [.session("b")])
            let page = try await store.entries(AuditQuery(session: "a"))
            #expect(page.entries.map(\.action) == ["audit.content-erased", "tool.call", "tool.call"])
            #expect(page.entries.last?.detail == ["effect": "writes"])
            await store.close()
            #expect(try !gone.isInFiles(of: log.folder))
            #expect(try stays.isInFiles(of: log.folder))
            let verdict = try await log.verify()
            #expect(verdict.found == [] && verdict.erased == 3)
        }
    }

    @Test("Nothing is erased while another program has the log open")
    func erasingShared() async throws {
        try await TestLog.run { log in
            try await log.write(["a"])
            let other = try Connection.open(log.path, migrations: AuditStore.migrations)
            _ = try other.first("SELECT count(*) FROM entries") { row in try row[0] as Int }
            await #expect(processExitsWith: .success) { [folder = log.folder as String] in
                let store = TestLog(folder: folder).open()
                let kind = try await storageFailure { try await store.eraseContent(of: [.session("s")]) }
                #expect(kind == .busy)
                #expect(try await store.places() == [.session("s")])
                await store.close()
            }
            other.close()
            let store = log.open()
            #expect(try await store.eraseContent(of: [.session("s")]) == 1)
            await store.close()
        }
    }
}
