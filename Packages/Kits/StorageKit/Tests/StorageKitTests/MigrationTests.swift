import CoreTesting
import FileKit
import Glibc
import StorageKit
import Testing

@Suite("Migrations", .timeLimit(.minutes(5)))
struct MigrationTests {
    @Test("A new database gets every step, an older one the remaining ones, and the data is kept")
    func forward() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let old = try Connection.open(path, migrations: [notes[0]])
            try old.add("a")
            old.close()
            let new = try Connection.open(path, migrations: notes)
            try new.run("UPDATE notes SET author = ?", "me")
            #expect(try new.texts == ["a"])
            new.close()
            #expect(
                try shell("sqlite3 \(path) 'SELECT version, name FROM storage_migrations'") == "1|notes\n2|authors\n")
        }
    }

    @Test("A database from a newer version is refused with a clear error and is unchanged")
    func newer() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            try Connection.open(path, migrations: notes).close()
            let before = try Files.read(path, limit: 1 << 20)
            let error = #expect(throws: StorageError.self) { _ = try Connection.open(path, migrations: [notes[0]]) }
            #expect(error?.kind == .newer)
            #expect(error?.message.contains("changed by a newer version (2 steps, this one knows 1)") == true)
            #expect(try Files.read(path, limit: 1 << 20) == before)
        }
    }

    @Test("A database with different migration steps is refused")
    func changed() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            try Connection.open(path, migrations: notes).close()
            let other = [notes[0], Migration("authors", "ALTER TABLE notes ADD COLUMN writer TEXT")]
            #expect(failure { _ = try Connection.open(path, migrations: other) } == .changed)
            #expect(try Files.list(folder).map(\.name) == ["a.db"])
        }
    }

    @Test("A database of another program is refused and is unchanged")
    func foreign() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            _ = try shell("sqlite3 \(path) 'CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)'")
            let before = try Files.read(path, limit: 1 << 20)
            #expect(failure { _ = try Connection.open(path, migrations: notes) } == .foreign)
            _ = try shell("sqlite3 \(path) 'PRAGMA application_id = 7; DROP TABLE theirs'")
            #expect(failure { _ = try Connection.open(path, migrations: notes) } == .foreign)
            _ = try shell(
                "sqlite3 \(path) 'PRAGMA application_id = 0; CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)'")
            #expect(try Files.read(path, limit: 1 << 20).count == before.count)
            #expect(try Files.list(folder).map(\.name) == ["a.db"])
        }
    }

    @Test("A step that fails leaves the database at the previous step, and is tried again")
    func failingStep() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let bad = [notes[0], Migration("bad", "INSERT INTO notes (text) VALUES ('half'); SELEKT")]
            #expect(failure { _ = try Connection.open(path, migrations: bad) } == .statement)
            let good = try Connection.open(path, migrations: notes)
            #expect(try good.count == 0)
            good.close()
        }
    }

    /// Takes long enough to be killed in the middle.
    static let longStep = Migration(
        "long",
        """
        INSERT INTO notes (text)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT 'note ' || i FROM n;
        CREATE INDEX notes_text ON notes (text)
        """)

    @Test("A migration killed midway leaves the old schema or the new one, never a mixture")
    func killed() async throws {
        try await TemporaryDirectory.run { folder in
            var taken: Set<Int> = []
            for round in 0..<12 {
                let path = "\(folder)/\(round).db"
                try Connection.open(path, migrations: [notes[0]]).close()
                let delay = UInt32.random(in: 0...150_000)
                let result = await #expect(
                    processExitsWith: .signal(SIGKILL), observing: [\.standardErrorContent]
                ) { [path = path as String, delay = delay as UInt32] in
                    try killMyself(after: delay)
                    let connection = try Connection.open(path, migrations: [notes[0], Self.longStep])
                    pause()
                    connection.close()
                }
                #expect(result != nil, "killed after \(delay) µs")
                let steps = Int(try shell("sqlite3 \(path) 'SELECT count(*) FROM storage_migrations'").dropLast()) ?? -1
                taken.insert(steps)
                let rows = try shell("sqlite3 \(path) 'SELECT count(*) FROM notes'")
                #expect(rows == (steps == 2 ? "200000\n" : "0\n"), "killed after \(delay) µs")
                #expect(try shell("sqlite3 \(path) 'PRAGMA integrity_check'") == "ok\n")
                let again = try Connection.open(path, migrations: [notes[0], Self.longStep])
                #expect(try again.count == 200_000)
                again.close()
            }
            #expect(taken.isSubset(of: [1, 2]))
        }
    }

    /// A table of tags that refer to notes and are deleted with them.
    private static let family = [
        notes[0],
        Migration(
            "tags",
            """
            CREATE TABLE tags (
                note INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE, text TEXT NOT NULL) STRICT
            """),
    ]

    @Test("A step that rebuilds a table keeps the rows that refer to it, and their foreign keys")
    func rebuilt() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let old = try Connection.open(path, migrations: Self.family)
            for number in 0..<10 {
                try old.add("note \(number)")
                try old.run("INSERT INTO tags (note, text) VALUES (?, 'tag')", try old.lastInsertedID)
            }
            old.close()
            let rebuild = Migration(
                "titles",
                """
                CREATE TABLE new_notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, title TEXT NOT NULL) STRICT;
                INSERT INTO new_notes SELECT id, text, 'title' FROM notes;
                drop
                    table notes;
                ALTER TABLE new_notes RENAME TO notes
                """)
            let new = try Connection.open(path, migrations: Self.family + [rebuild])
            #expect(try new.count == 10)
            func tags() throws -> Int? { try new.first("SELECT count(*) FROM tags") { row in try row[0] } }
            #expect(try tags() == 10)
            // Foreign keys are enforced again.
            try new.run("DELETE FROM notes WHERE id = 1")
            #expect(try tags() == 9)
            #expect(failure { try new.run("INSERT INTO tags (note, text) VALUES (77, 'lost')") } == .constraint)
            new.close()
        }
    }

    @Test("A step that drops a table and leaves dangling references is refused and rolled back")
    func orphans() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let old = try Connection.open(path, migrations: Self.family)
            try old.add("a")
            try old.run("INSERT INTO tags (note, text) VALUES (1, 'tag')")
            old.close()
            let bad = Migration(
                "bad", "DROP TABLE notes; CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")
            #expect(failure { _ = try Connection.open(path, migrations: Self.family + [bad]) } == .constraint)
            let again = try Connection.open(path, migrations: Self.family)
            #expect(try again.texts == ["a"])
            #expect(try again.first("SELECT text FROM tags") { row in try row[0] as String } == "tag")
            again.close()
        }
    }

    @Test("Four programs that migrate at once run each step once")
    func together() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        await #expect(processExitsWith: .success) { [path = path as String] in
                            let connection = try Connection.open(path, migrations: [notes[0], Self.longStep])
                            #expect(try connection.count == 200_000)
                            connection.close()
                        }
                    }
                }
            }
            let steps = try shell("sqlite3 \(path) 'SELECT version, name FROM storage_migrations'")
            #expect(steps == "1|notes\n2|long\n")
        }
    }
}
