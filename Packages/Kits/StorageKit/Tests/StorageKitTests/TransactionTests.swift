import CoreTesting
import StorageKit
import Testing

@Suite("Transactions")
struct TransactionTests {
    private struct Stop: Error {}

    private func withNotes<T>(_ body: (Connection) throws -> T) async throws -> T {
        try await TemporaryDirectory.run { folder in
            let connection = try Connection.open("\(folder)/a.db", migrations: notes)
            defer { connection.close() }
            return try body(connection)
        }
    }

    @Test("An error rolls back the whole transaction and is rethrown")
    func undone() async throws {
        try await withNotes { connection in
            #expect(throws: Stop.self) {
                try connection.transaction {
                    try connection.add("a")
                    throw Stop()
                }
            }
            #expect(try connection.count == 0)
            let result = try connection.transaction {
                try connection.add("b")
                return 5
            }
            #expect(result == 5)
            #expect(try connection.texts == ["b"])
        }
    }

    @Test("An error in a nested transaction rolls back only that one if the outer one continues")
    func nested() async throws {
        try await withNotes { connection in
            try connection.transaction {
                try connection.add("outer")
                #expect(throws: Stop.self) {
                    try connection.transaction {
                        try connection.add("inner")
                        try connection.transaction { try connection.add("innermost") }
                        throw Stop()
                    }
                }
                try connection.transaction { try connection.add("second") }
            }
            #expect(try connection.texts == ["outer", "second"])
        }
    }

    @Test("Statements after SQLite has rolled back a transaction by itself are not stored")
    func lost() async throws {
        try await withNotes { connection in
            let kind = failure {
                try connection.transaction {
                    try connection.add("a")
                    // SQLite does the same on a full disk.
                    #expect(throws: StorageError.self) {
                        try connection.run("INSERT OR ROLLBACK INTO notes (id, text) VALUES (1, 'b')")
                    }
                    #expect(failure { try connection.add("c") } == .statement)
                    #expect(failure { try connection.transaction { try connection.add("d") } } == .statement)
                }
            }
            #expect(kind == .statement)
            #expect(try connection.count == 0)
            try connection.transaction { try connection.add("e") }
            #expect(try connection.texts == ["e"])
        }
    }

    @Test("An error at the commit rolls back the whole transaction")
    func failingEnd() async throws {
        try await TemporaryDirectory.run { folder in
            let tables: SQL = """
                CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT;
                CREATE TABLE b (a INTEGER REFERENCES a DEFERRABLE INITIALLY DEFERRED) STRICT
                """
            let connection = try Connection.open("\(folder)/a.db", migrations: [Migration("tables", tables)])
            let kind = failure {
                _ = try connection.transaction { try connection.run("INSERT INTO b VALUES (7)") }
            }
            #expect(kind == .constraint)
            let count: Int? = try connection.first("SELECT count(*) FROM b") { row in try row[0] }
            #expect(count == 0)
            try connection.transaction {
                try connection.run("INSERT INTO b VALUES (7)")
                try connection.run("INSERT INTO a VALUES (7)")
            }
            connection.close()
        }
    }

    @Test("A connection that is closed inside a transaction keeps nothing of it")
    func closedInside() async throws {
        try await TemporaryDirectory.run { folder in
            let connection = try Connection.open("\(folder)/a.db", migrations: notes)
            #expect(
                failure {
                    try connection.transaction {
                        try connection.add("a"); connection.close()
                    }
                } == .closed)
            let again = try Connection.open("\(folder)/a.db", migrations: notes)
            #expect(try again.count == 0)
            again.close()
        }
    }

    @Test("A snapshot sees one state while another connection writes")
    func snapshot() async throws {
        try await TemporaryDirectory.run { folder in
            let reader = try Connection.open("\(folder)/a.db", migrations: notes)
            let writer = try Connection.open("\(folder)/a.db", migrations: notes)
            try writer.add("a")
            try reader.snapshot {
                #expect(try reader.count == 1)
                try writer.add("b")
                #expect(try reader.count == 1)
            }
            #expect(try reader.count == 2)
            reader.close()
            writer.close()
        }
    }
}
