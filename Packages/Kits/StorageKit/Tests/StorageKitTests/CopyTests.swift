import Capabilities
import CoreTesting
import FileKit
import Glibc
import Synchronization
import Testing

@testable import StorageKit

@Suite("Backups and maintenance", .timeLimit(.minutes(5)))
struct CopyTests {
    private func withDatabase<T>(_ body: (Database, String) async throws -> T) async throws -> T {
        try await TemporaryDirectory.run { folder in
            let database = Database("\(folder)/a.db", migrations: notes, durability: .normal)
            let result = try await body(database, folder)
            await database.close()
            return result
        }
    }

    private func fill(_ database: Database, _ count: Int) async throws {
        try await database.write { connection in
            for number in 0..<count { try connection.add("note \(number) " + String(repeating: "x", count: 900)) }
        }
    }

    @Test("A backup has one consistent state while others write, and is one private file")
    func underLoad() async throws {
        try await withDatabase { database, folder in
            try await fill(database, 8000)
            let isDone = Flag()
            async let load: Int = {
                var count = 0
                while !isDone.isSet {
                    // Each transaction adds two: an odd number in the copy would be half of one.
                    try await database.write { connection in
                        try connection.add("more")
                        try connection.add("more")
                    }
                    count += 2
                }
                return count
            }()
            let progress = Mutex<[Progress]>([])
            try await database.backup(to: "\(folder)/copy") { step in progress.withLock { $0.append(step) } }
            isDone.set()
            #expect(try await load > 0)
            let count = try #require(Int(try shell("sqlite3 \(folder)/copy 'SELECT count(*) FROM notes'").dropLast()))
            #expect(count >= 8000 && count % 2 == 0)
            #expect(try shell("sqlite3 \(folder)/copy 'PRAGMA integrity_check; PRAGMA journal_mode'") == "ok\ndelete\n")
            #expect(try Files.info("\(folder)/copy").mode == 0o600)
            #expect(try Files.list(folder).map(\.name).filter { $0.hasPrefix("copy") } == ["copy"])
            let steps = progress.withLock { $0 }
            #expect(steps.count > 5 && steps.last?.fraction == 1)
        }
    }

    @Test("A file created at the backup's path during the backup is not replaced")
    func nameTaken() async throws {
        try await withDatabase { database, folder in
            try await fill(database, 2000)
            let kind = await failure {
                try await database.backup(to: "\(folder)/copy") { _ in
                    do { try Files.writeAtomically([7], to: "\(folder)/copy") } catch { Issue.record(error) }
                }
            }
            #expect(kind == .open)
            #expect(try Files.read("\(folder)/copy", limit: 9) == [7])
            #expect(try Files.list(folder).map(\.name).filter { $0.hasPrefix("copy") } == ["copy"])
        }
    }

    @Test("A backup is restored even while connections are open, and older schemas are migrated")
    func restored() async throws {
        try await withDatabase { database, folder in
            let old = try Connection.open("\(folder)/old.db", migrations: [notes[0]])
            try old.add("from long ago")
            old.close()
            try await fill(database, 500)
            try await database.backup(to: "\(folder)/copy")
            try await database.write { try $0.run("DELETE FROM notes WHERE id > 3") }
            let other = try Connection.open("\(folder)/a.db", migrations: notes)
            #expect(try other.count == 3)
            try await database.restore(from: "\(folder)/copy")
            #expect(try await database.read { try $0.count } == 500)
            #expect(try other.count == 500)
            try await database.restore(from: "\(folder)/old.db")
            try await database.write { try $0.run("UPDATE notes SET author = 'me'") }
            #expect(try await database.read { try $0.texts } == ["from long ago"])
            #expect(try other.count == 1)
            try other.add("b")
            other.close()
            #expect(try await database.check() == [])
        }
    }

    @Test("A damaged, newer, foreign or missing backup is refused, and the data is unchanged")
    func refused() async throws {
        try await withDatabase { database, folder in
            try await fill(database, 500)
            try await database.backup(to: "\(folder)/copy")
            try await database.verify("\(folder)/copy")
            var bytes = try Files.read("\(folder)/copy", limit: 1 << 26)
            for place in 100_000..<120_000 { bytes[place] = 0x5A }
            try Files.writeAtomically(bytes, to: "\(folder)/damaged")
            try Files.writeAtomically(Array("words".utf8), to: "\(folder)/words")
            try Connection.open("\(folder)/newer", migrations: notes + [Migration("c", "CREATE TABLE c (a) ")]).close()
            // A full disk leaves such a file of a copy.
            try Files.writeAtomically([], to: "\(folder)/empty")
            _ = try shell("sqlite3 \(folder)/foreign 'CREATE TABLE theirs (a)'")
            let expected: [(String, StorageError.Kind)] = [
                ("damaged", .damaged), ("words", .damaged), ("newer", .newer), ("foreign", .foreign),
                ("missing", .open), ("empty", .damaged),
            ]
            for (name, kind) in expected {
                let found = await failure { try await database.restore(from: "\(folder)/\(name)") }
                #expect(found == kind, "\(name)")
                #expect(await failure { try await database.verify("\(folder)/\(name)") } == kind, "\(name)")
            }
            #expect(try await database.read { try $0.count } == 500)
            #expect(!Files.exists("\(folder)/missing"))
            #expect(try Files.read("\(folder)/damaged", limit: 1 << 26) == bytes)
        }
    }

    @Test("A backup to an existing file is refused, and a failed backup leaves nothing")
    func noPlace() async throws {
        try await withDatabase { database, folder in
            try await fill(database, 10)
            try Files.writeAtomically([7], to: "\(folder)/precious")
            #expect(await failure { try await database.backup(to: "\(folder)/precious") } == .open)
            #expect(try Files.read("\(folder)/precious", limit: 9) == [7])
            await #expect(throws: (any Error).self) { try await database.backup(to: "/proc/nothing/copy") }
            let task = Task { try await database.backup(to: "\(folder)/copy") }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try Files.list(folder).filter { $0.name.hasPrefix("copy") }.isEmpty)
        }
    }

    @Test("A cancelled backup or restore changes nothing")
    func cancelled() async throws {
        try await withDatabase { database, folder in
            try await fill(database, 5000)
            try await database.backup(to: "\(folder)/whole")
            try await database.write { try $0.run("DELETE FROM notes WHERE id > 4000") }
            let gate = Gate()
            let pausing: @Sendable (Progress) -> Void = { _ in gate.pass() }
            let copying = Task { try await database.backup(to: "\(folder)/copy", progress: pausing) }
            let restoring = Task { try await database.restore(from: "\(folder)/whole", progress: pausing) }
            for _ in 0..<2 { try await gate.reached() }
            copying.cancel()
            restoring.cancel()
            gate.open()
            await #expect(throws: CancellationError.self) { try await copying.value }
            await #expect(throws: CancellationError.self) { try await restoring.value }
            #expect(try await database.read { try $0.count } == 4000)
            #expect(try await database.check() == [])
            #expect(try Files.list(folder).filter { $0.name.hasPrefix("copy") }.isEmpty)
            try await database.write { try $0.add("goes on") }
        }
    }

    @Test("A process killed during a restore leaves the old content or the new")
    func killedRestore() async throws {
        try await TemporaryDirectory.run { folder in
            let database = Database("\(folder)/a.db", migrations: notes)
            try await fill(database, 5000)
            try await database.backup(to: "\(folder)/copy")
            try await database.write { try $0.run("DELETE FROM notes WHERE id > 100") }
            await database.close()
            for step in 1...5 {
                await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String, step = step as Int] in
                    let database = Database("\(folder)/a.db", migrations: notes)
                    try await database.restore(from: "\(folder)/copy") { progress in
                        if progress.fraction == 1 || (progress.completed ?? 0) >= step * 256 { kill(getpid(), SIGKILL) }
                    }
                }
                let count = try shell("sqlite3 \(folder)/a.db 'SELECT count(*) FROM notes'")
                #expect(count == (step == 5 ? "5000\n" : "100\n"), "killed after \(step) steps of 5")
                #expect(try shell("sqlite3 \(folder)/a.db 'PRAGMA integrity_check'") == "ok\n")
            }
        }
    }

    @Test("Compacting frees space and returns how much")
    func compacted() async throws {
        try await withDatabase { database, folder in
            try await fill(database, 5000)
            try await database.write { try $0.run("DELETE FROM notes WHERE id > 10") }
            let before = try DatabaseFile(path: database.path).size
            let freed = try await database.compact()
            #expect(freed.bytes > 4 << 20)
            #expect(try DatabaseFile(path: database.path).size == before - freed.bytes)
            #expect(try await database.compact().bytes >= 0)
            try await database.optimize()
            #expect(try await database.read { try $0.count } == 10)
        }
    }

    @Test("A check finds damage and orphans, changes nothing, and finds nothing in a missing file")
    func checked() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let database = Database(path, migrations: notes)
            #expect(try await database.check() == [])
            #expect(!Files.exists(path))
            try Files.writeAtomically(Array("nothing of a database".utf8), to: path)
            let findings = try await database.check()
            #expect(findings.count == 1 && findings[0].contains("is damaged"))
            #expect(try Files.list(folder).map(\.name) == ["a.db"])
        }
        try await TemporaryDirectory.run { folder in
            let tables: SQL = """
                CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT;
                CREATE TABLE b (a INTEGER REFERENCES a) STRICT
                """
            let database = Database("\(folder)/a.db", migrations: [Migration("tables", tables)])
            try await database.write { _ in }
            _ = try shell("sqlite3 \(folder)/a.db 'INSERT INTO b VALUES (7)'")
            #expect(try await database.check() == ["a row of table b points to a missing row of a"])
            await database.close()
        }
    }

    @Test("A database store supports check, backup, restore and compact")
    func store() async throws {
        try await withDatabase { database, folder in
            let store = DatabaseStore(id: "notes.texts", summary: "Notes", database: database)
            try await database.write { try $0.add("a") }
            #expect(store.location == database.path && store.id == "notes.texts" && store.summary == "Notes")
            #expect(try await store.check() == [])
            try await store.backup(to: "\(folder)/copy")
            try await database.write { try $0.add("b") }
            try await store.restore(from: "\(folder)/copy")
            #expect(try await database.read { try $0.texts } == ["a"])
            #expect(try await store.compact().bytes >= 0)
            #expect(try store.user() == nil && store.setAside() == [])
            let used = DatabaseStore(id: "notes.texts", summary: "Notes", database: database) { "a test" }
            #expect(try used.user() == "a test")
        }
    }
}
