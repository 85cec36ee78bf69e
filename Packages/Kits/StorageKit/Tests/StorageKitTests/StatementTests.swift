import CoreTesting
import StorageKit
import Testing

@Suite("Statements")
struct StatementTests {
    private func withNotes<T>(_ body: (Connection) throws -> T) async throws -> T {
        try await TemporaryDirectory.run { folder in
            let connection = try Connection.open("\(folder)/a.db", migrations: notes)
            defer { connection.close() }
            return try body(connection)
        }
    }

    @Test("A statement returns the number of changed rows and the new id")
    func changes() async throws {
        try await withNotes { connection in
            try connection.add("a")
            try connection.add("b")
            #expect(try connection.lastInsertedID == 2)
            #expect(try connection.run("UPDATE notes SET text = text || ?", "!") == 2)
            #expect(try connection.texts == ["a!", "b!"])
            #expect(try connection.run("DELETE FROM notes WHERE id = ?", 9) == 0)
        }
    }

    @Test("A value that is too large for a row is refused as too large, not as an invalid statement")
    func tooLarge() async throws {
        try await withNotes { connection in
            let large: SQL = "INSERT INTO notes (text) VALUES (CAST(zeroblob(2000000000) AS TEXT))"
            #expect(failure { try connection.run(large) } == .tooLarge)
            let count = try connection.count
            #expect(count == 0)
        }
    }

    @Test("Too few and too many values are refused")
    func valueCount() async throws {
        try await withNotes { connection in
            #expect(failure { try connection.run("INSERT INTO notes (text) VALUES (?)") } == .mismatch)
            #expect(failure { try connection.run("INSERT INTO notes (text) VALUES (?)", "a", "b") } == .mismatch)
            let count = try connection.count
            #expect(count == 0)
        }
    }

    @Test("A second statement in one text is refused and not skipped")
    func twoStatements() async throws {
        try await withNotes { connection in
            #expect(failure { try connection.run("DELETE FROM notes; DELETE FROM notes") } == .statement)
            #expect(failure { try connection.run("") } == .statement)
            try connection.run("DELETE FROM notes;\n")
        }
    }

    @Test("A script runs to its end or stops at an error")
    func script() async throws {
        try await withNotes { connection in
            try connection.runScript(
                "INSERT INTO notes (text) VALUES ('a'); -- one\nINSERT INTO notes (text) VALUES ('b');\n ")
            #expect(try connection.texts == ["a", "b"])
            #expect(
                failure { try connection.runScript("DELETE FROM notes WHERE id = 1; nonsense; DELETE FROM notes") }
                    == .statement)
            #expect(try connection.texts == ["b"])
        }
    }

    @Test("An error describes the problem without the values")
    func errors() async throws {
        try await withNotes { connection in
            try connection.run("INSERT INTO notes (id, text) VALUES (1, ?)", "secret")
            let error = #expect(throws: StorageError.self) {
                try connection.run("INSERT INTO notes (id, text) VALUES (1, ?)", "secret")
            }
            #expect(error?.kind == .constraint)
            #expect(error?.message.contains("UNIQUE constraint failed: notes.id") == true)
            #expect(error?.message.contains("secret") == false)
            let syntax = #expect(throws: StorageError.self) { try connection.run("SELEKT") }
            #expect(syntax?.code == "storage.statement" && syntax?.message.contains("SELEKT") == true)
        }
    }

    @Test("A statement takes a list of values, as many as it has placeholders")
    func listed() async throws {
        try await withNotes { connection in
            for text in ["a", "b", "c"] { try connection.add(text) }
            var found: [String] = []
            let sql: SQL = "SELECT text FROM notes WHERE text >= ? AND text <> ? ORDER BY id"
            try connection.forEach(sql, listing: ["b".stored, "c".stored]) { row in found.append(try row[0]) }
            #expect(found == ["b"])
            #expect(throws: StorageError.self) { try connection.forEach(sql, listing: ["b".stored]) { _ in } }
        }
    }

    @Test("The same statement can run while it is already running")
    func nested() async throws {
        try await withNotes { connection in
            for text in ["a", "b", "c"] { try connection.add(text) }
            let sql: SQL = "SELECT text FROM notes ORDER BY id"
            var pairs: [String] = []
            try connection.forEach(sql) { outer in
                let first: String = try outer[0]
                try connection.forEach(sql) { inner in pairs.append(first + (try inner[0])) }
            }
            #expect(pairs == ["aa", "ab", "ac", "ba", "bb", "bc", "ca", "cb", "cc"])
        }
    }

    @Test("A statement is usable after an error in the middle of a result")
    func thrownInRow() async throws {
        struct Enough: Error {}
        try await withNotes { connection in
            for text in ["a", "b"] { try connection.add(text) }
            #expect(throws: Enough.self) {
                try connection.forEach("SELECT text FROM notes ORDER BY id") { _ in throw Enough() }
            }
            #expect(try connection.texts == ["a", "b"])
        }
    }

    @Test("A thousand different statements work, and only a few are cached")
    func manyStatements() async throws {
        try await withNotes { connection in
            for round in 0..<2 {
                for number in 0..<500 {
                    let back: Int? = try connection.first(SQL(raw: "SELECT \(number)")) { row in try row[0] }
                    #expect(back == number, "round \(round)")
                }
            }
        }
    }

    @Test("Pieces of SQL can be joined, and values stay bound parameters")
    func joined() async throws {
        try await withNotes { connection in
            for text in ["a", "b' OR 1 = 1 --"] { try connection.add(text) }
            let all: SQL = "SELECT text FROM notes"
            let found = try connection.all(all + " WHERE text = ?", "b' OR 1 = 1 --") { row in try row[0] as String }
            #expect(found == ["b' OR 1 = 1 --"])
        }
    }

    @Test("Text in double quotes is not a string, so a misspelt column is an error")
    func doubleQuotes() async throws {
        try await withNotes { connection in
            #expect(failure { try connection.run("SELECT \"txet\" FROM notes") } == .statement)
        }
    }

    @Test("A closed connection refuses everything, and closing it twice is harmless")
    func closed() async throws {
        try await withNotes { connection in
            connection.close()
            connection.close()
            #expect(connection.isClosed)
            #expect(failure { try connection.add("a") } == .closed)
            #expect(failure { try connection.runScript("DELETE FROM notes") } == .closed)
            #expect(failure { try connection.transaction {} } == .closed)
            #expect(failure { _ = try connection.lastInsertedID } == .closed)
        }
    }
}
