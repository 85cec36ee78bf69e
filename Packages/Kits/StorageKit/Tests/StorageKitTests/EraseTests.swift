import Capabilities
import CoreTesting
import FileKit
import Glibc
import StorageKit
import Testing

@Suite("Erasing of deleted data", .timeLimit(.minutes(5)))
struct EraseTests {
    private static let words = [
        Migration(
            "words",
            #"""
            CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
            CREATE VIRTUAL TABLE "some ""words""" USING fts5(text, content = 'notes', content_rowid = 'id');
            """#)
    ]

    private func withNotes(_ body: (Database, String) async throws -> Void) async throws {
        try await TemporaryDirectory.run { folder in
            let database = Database("\(folder)/a.db", migrations: Self.words, durability: .normal)
            try await database.write { connection in
                for number in 0..<400 {
                    let text =
                        number % 2 == 0 ? "kept\(number)" : "zanzibar\(number) " + String(repeating: "x", count: 900)
                    try connection.run("INSERT INTO notes (id, text) VALUES (?, ?)", number, text)
                    try connection.run(##"INSERT INTO "some ""words""" (rowid, text) VALUES (?, ?)"##, number, text)
                }
            }
            try await database.write { connection in
                try connection.run(
                    ##"INSERT INTO "some ""words""" ("some ""words""", rowid, text) "##
                        + "SELECT 'delete', id, text FROM notes WHERE id % 2 = 1")
                try connection.run("DELETE FROM notes WHERE id % 2 = 1")
            }
            try await body(database, folder)
            await database.close()
        }
    }

    /// The files in a folder that contain the word. Another program searches, because closing a descriptor in this
    /// process would release SQLite's locks.
    private func traces(in folder: String) throws -> [String] {
        try shell("grep -rla zanzibar \(folder) || true").split(separator: "\n").map(String.init).sorted()
    }

    @Test("No file contains deleted text after erasing, and the kept rows are still found")
    func erased() async throws {
        try await withNotes { database, folder in
            try Files.writeAtomically(Array("zanzibar".utf8), to: "\(folder)/a.db.damaged-20261101T000000Z")
            try Files.writeAtomically(Array("zanzibar".utf8), to: "\(folder)/a.db.damaged-20261101T000000Z-wal")
            let kept = try await database.read { connection in try connection.count }
            #expect(kept == 200)
            #expect(try traces(in: folder).count >= 3, "deleting alone leaves it")
            let freed = try await database.erase()
            #expect(freed.bytes > 100_000)
            #expect(try traces(in: folder).allSatisfy { $0.contains(".damaged-") }, "the rest is another's decision")
            #expect(try database.removeSetAsides() == ["\(folder)/a.db.damaged-20261101T000000Z"])
            #expect(try traces(in: folder) == [])
            let found = try await database.read { connection in
                try connection.all(##"SELECT rowid FROM "some ""words""" WHERE text MATCH 'kept42'"##) { row in
                    try row[0] as Int
                }
            }
            #expect(found == [42])
            #expect(try await database.check() == [])
        }
    }

    @Test("Data is not erased while another program has the file open, and the error names the program")
    func held() async throws {
        try await withNotes { database, folder in
            let (gate, place) = ("\(folder)/gate", "\(folder)/a.db")
            try #require(unsafe mkfifo(gate, 0o600) == 0)
            let command = "exec sqlite3 \(place) 'SELECT 1 FROM notes LIMIT 1' '.shell echo ready' '.shell cat \(gate)'"
            guard let reader = unsafe popen(command, "r") else { throw TestProblem("sqlite3 cannot be started") }
            var line = [CChar](repeating: 0, count: 64)
            while unsafe strcmp(line, "ready\n") != 0 {
                try #require(unsafe fgets(&line, Int32(line.count), reader) != nil)
            }
            #expect(try database.holders().map { $0.split(separator: " ").first } == ["sqlite3"])
            let error = await #expect(throws: StorageError.self) { try await database.erase() }
            #expect(error?.kind == .busy)
            #expect(error?.message.contains("\(place) is open in sqlite3 (process ") == true, "\(error?.message ?? "")")
            #expect(try traces(in: folder) != [])
            let opened = unsafe open(gate, O_WRONLY | O_CLOEXEC)
            try #require(opened >= 0)
            close(opened)
            while unsafe fgets(&line, Int32(line.count), reader) != nil {}
            #expect(unsafe pclose(reader) == 0)
            #expect(try database.holders() == [])
            try await database.erase()
            #expect(try traces(in: folder) == [])
        }
    }

    @Test("An active reader in this program prevents erasing, and the error says so")
    func read() async throws {
        try await withNotes { database, folder in
            let other = Database("\(folder)/a.db", migrations: Self.words, busyLimit: .milliseconds(50))
            let own = Database("\(folder)/a.db", migrations: Self.words, busyLimit: .milliseconds(50))
            let (begun, end) = (Flag(), Flag())
            async let count = other.read { connection in
                let count = try connection.count
                begun.set()
                while !end.isSet { sched_yield() }
                return count
            }
            while !begun.isSet { await Task.yield() }
            let error = await #expect(throws: StorageError.self) { try await own.erase() }
            #expect(error?.message.contains("while another connection reads") == true, "\(error?.message ?? "")")
            end.set()
            #expect(try await count == 200)
            try await own.erase()
            #expect(try traces(in: folder) == [])
            await other.close()
            await own.close()
        }
    }

    @Test("Erasing a database that was never used does not create it") func absent() async throws {
        try await TemporaryDirectory.run { folder in
            let database = Database("\(folder)/a.db", migrations: Self.words)
            let freed = try await database.erase()
            let left = try Files.list(folder).map(\.name)
            #expect(freed == ByteCount(0) && left == [])
        }
    }
}
