import Capabilities
import CoreTesting
import FileKit
import Glibc
import JSON
import LoopKit
import StorageKit
import Testing

@testable import Audit

@Suite("An audit log of several programs", .timeLimit(.minutes(10)))
struct ProcessTests {
    @Test("Programs and tasks that write at once make one chain")
    func together() async throws {
        try await TestLog.run { log in
            // One key for all: the vaults of the processes are in their memory.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for program in 0..<3 {
                    group.addTask { [folder = log.folder] in
                        await #expect(processExitsWith: .success) {
                            [folder = folder as String, program = program as Int] in
                            try await Self.write(in: folder, program)
                        }
                    }
                }
                try await group.waitForAll()
            }
            log.vault.edit { $0.secrets[SealKey.name] = Self.key }
            let verdict = try await log.verify()
            #expect(verdict.entries == 3 * 4 * 25 * 2)
            #expect(verdict.found == [] && verdict.sealedThrough == verdict.entries)
            let store = log.open()
            let entries = try await store.entries(AuditQuery(limit: 1000)).entries
            #expect(entries.count == 300 && entries.allSatisfy { $0.outcome == "done" })
            await store.close()
        }
    }

    private static let key = Secret("one key for all programs of this test")

    private static func write(in folder: String, _ program: Int) async throws {
        let log = TestLog(folder: folder)
        log.vault.edit { $0.secrets[SealKey.name] = key }
        let store = log.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var last: Int?
                    for number in 0..<25 {
                        let entry = AuditEntry(
                            actor: "model", action: "tool.call", subject: "\(program) \(task) \(number)",
                            detail: ["input": .string(String(repeating: "x", count: number * 40))])
                        // As turns do it: an end with the next entry, or alone.
                        let done = AuditCompletion(outcome: "done")
                        let ends = last.map { [AuditLine.end(of: $0, done)] } ?? []
                        last = try await store.append(ends + [.entry(entry)]).first
                        if let number = last, task == 0 {
                            try await store.complete(number, done)
                            last = nil
                        }
                    }
                    if let last { try await store.complete(last, AuditCompletion(outcome: "done")) }
                }
            }
            try await group.waitForAll()
        }
        await store.close()
    }

    @Test("A program that is killed leaves a whole log, and nothing that was recorded is lost")
    func killed() async throws {
        try await TestLog.run { log in
            log.vault.edit { $0.secrets[SealKey.name] = Self.key }
            let seed = UInt64.random(in: .min ... .max)
            var random = SeededGenerator(seed: seed)
            var confirmed = 0
            for round in 0..<12 {
                let delay = UInt32.random(in: 5_000...60_000, using: &random)
                await #expect(processExitsWith: .signal(SIGKILL), "seed \(seed)") {
                    [folder = log.folder as String, delay = delay as UInt32, round = round as Int] in
                    let log = TestLog(folder: folder)
                    log.vault.edit { $0.secrets[SealKey.name] = Self.key }
                    let store = log.open()
                    try await store.record(AuditEntry(actor: "model", action: "begins", subject: "\(round)"))
                    _ = try OwnThread {
                        usleep(delay)
                        kill(getpid(), SIGKILL)
                    }
                    var last: Int?
                    while true {
                        let ends = last.map { [AuditLine.end(of: $0, AuditCompletion(outcome: "done"))] } ?? []
                        let entry = AuditEntry(actor: "model", action: "tool.call", subject: "\(round)")
                        last = try await store.append(ends + [.entry(entry)]).first
                        try Files.writeAtomically(Array("\(last ?? 0)".utf8), to: "\(folder)/confirmed")
                    }
                }
                let verdict = try await log.verify()
                #expect(verdict.found == [], "seed \(seed), round \(round)")
                #expect(verdict.sealedThrough == verdict.entries)
                if Files.exists("\(log.folder)/confirmed") {
                    let text = String(decoding: try Files.read("\(log.folder)/confirmed", limit: 100), as: UTF8.self)
                    confirmed = max(confirmed, try #require(Int(text)))
                }
                #expect(verdict.newest >= confirmed, "seed \(seed), round \(round)")
            }
            #expect(confirmed > 12)
            let store = log.open()
            var query = AuditQuery()
            query.action = "begins"
            #expect(try await store.entries(query).total == 12)
            // Only the last end of each program can be missing.
            (query.action, query.limit) = ("tool.call", 100_000)
            let open = try await store.entries(query).entries.filter { $0.outcome == nil }.map(\.subject)
            #expect(Set(open).count == open.count)
            await store.close()
        }
    }

    @Test("A full disk refuses entries, loses none, and takes more when there is space again")
    func full() async throws {
        try await TestLog.run { log in
            await #expect(processExitsWith: .success) { [folder = log.folder as String] in
                signal(SIGXFSZ, SIG_IGN)
                let log = TestLog(folder: folder)
                let store = log.open()
                try await store.record(AuditEntry(actor: "model", action: "first"))
                var limit = rlimit(rlim_cur: 400_000, rlim_max: rlim_t.max)
                try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                var count = 1
                let large = JSON.string(String(repeating: "x", count: 9000))
                let kind = try await storageFailure {
                    while count < 1000 {
                        try await store.record(AuditEntry(actor: "a", action: "b", detail: ["input": large]))
                        count += 1
                    }
                }
                #expect(kind == .full)
                #expect(count > 10)
                // Nor is an end stored without the entry beside it.
                let together = try await storageFailure {
                    let entry = AuditEntry(actor: "a", action: "b", detail: ["input": large])
                    try await store.append([.end(of: 1, AuditCompletion(outcome: "done")), .entry(entry)])
                }
                #expect(together == .full)
                let page = try await store.entries(AuditQuery(limit: 1000))
                #expect(page.total == count && page.entries.last?.outcome == nil)
                limit.rlim_cur = rlim_t.max
                try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                try await store.record(AuditEntry(actor: "model", action: "last"))
                let verdict = try await store.verify()
                #expect(verdict.found == [] && verdict.entries == count + 1)
                await store.close()
            }
        }
    }

    @Test("A lock that another program keeps is waited for, but not for ever")
    func locked() async throws {
        try await TestLog.run { log in
            try await log.write(["a"])
            let other = try Connection.open(log.path, migrations: AuditStore.migrations)
            let store = log.open(lockLimit: .milliseconds(50))
            _ = try await store.entries(AuditQuery())
            try other.run("BEGIN IMMEDIATE")
            let error = await #expect(throws: StorageError.self) {
                try await store.record(AuditEntry(actor: "a", action: "b"))
            }
            #expect(error?.kind == .busy)
            // Reading goes on.
            #expect(try await store.entries(AuditQuery()).total == 1)
            try other.run("ROLLBACK")
            other.close()
            #expect(try await store.record(AuditEntry(actor: "a", action: "b")) == 2)
            await store.close()
        }
    }

    @Test("A cancelled task still records")
    func cancelled() async throws {
        try await TestLog.run { log in
            let store = log.open()
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await store.record(AuditEntry(actor: "model", action: "tool.call"))
            }
            task.cancel()
            let number = try await task.value
            #expect(number == 1)
            await store.close()
        }
    }

    @Test("A hundred thousand entries are listed by page and checked")
    func many() async throws {
        try await TestLog.run { log in
            let store = log.open()
            for batch in 0..<50 {
                let entries = (1...2000).map { index -> AuditEntry in
                    let number = batch * 2000 + index
                    var entry = AuditEntry(
                        session: "s\(number % 100)", actor: "model", action: "tool.call", subject: "t\(number)")
                    (entry.number, entry.time) = (number, Timestamp(microseconds: Int64(number)))
                    return entry
                }
                _ = try await store.takeOver(entries, from: "old")
            }
            let page = try await store.entries(AuditQuery(session: "s7", limit: 20))
            #expect(page.total == 1000 && page.entries.first?.subject == "t99907")
            var last = AuditQuery(limit: 10)
            last.offset = 99_990
            #expect(try await store.entries(last).entries.last?.subject == "t1")
            let verdict = try await store.verify()
            #expect(verdict.entries == 100_000 && verdict.found == [] && verdict.sealedThrough == 100_000)
            // Lists find their rows by an index, whatever the number of rows.
            let plan = try await store.database.read { connection in
                try connection.all("EXPLAIN QUERY PLAN SELECT * FROM entries AS e WHERE e.session = 'x'") { row in
                    try row[3] as String
                }
            }
            #expect(plan.contains { $0.contains("INDEX entries_session") }, "\(plan)")
            await store.close()
        }
    }
}
