import Capabilities
import CoreTesting
import StorageKit
import Testing

@Suite("Values")
struct ValueTests {
    private enum Role: String, Storable { case user, system }
    private enum Level: Int, Storable { case low, high }

    private func withConnection<T>(_ body: (Connection) throws -> T) async throws -> T {
        try await TemporaryDirectory.run { folder in
            let table: SQL = "CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, r REAL, t TEXT, b BLOB) STRICT"
            let connection = try Connection.open("\(folder)/a.db", migrations: [Migration("t", table)])
            defer { connection.close() }
            return try body(connection)
        }
    }

    @Test("Integers are read back unchanged")
    func integers() async throws {
        try await withConnection { connection in
            for value in [Int.min, -1, 0, 1, .max] {
                let back: Int? = try connection.first("SELECT ?", value) { row in try row[0] }
                #expect(back == value)
                let same: Int64? = try connection.first("SELECT ?", Int64(value)) { row in try row[0] }
                #expect(same == Int64(value))
            }
        }
    }

    @Test("Floating-point numbers are read back unchanged, including infinity")
    func fractions() async throws {
        try await withConnection { connection in
            for value in [0, -0.0, 0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity] {
                try connection.run("INSERT OR REPLACE INTO t (id, r) VALUES (1, ?)", value)
                let back: Double? = try connection.first("SELECT r FROM t") { row in try row[0] }
                #expect(back == value)
            }
        }
    }

    @Test("NaN is refused, because SQLite would store NULL instead")
    func notANumber() async throws {
        try await withConnection { connection in
            #expect(failure { try connection.run("INSERT INTO t (r) VALUES (?)", Double.nan) } == .mismatch)
        }
    }

    @Test("An integer is read as a floating-point number only if that is exact")
    func wholeAsFraction() async throws {
        try await withConnection { connection in
            let exact: Double? = try connection.first("SELECT 3") { row in try row[0] }
            #expect(exact == 3)
            let kind = failure {
                _ = try connection.first("SELECT 9007199254740993") { row in try row[0] as Double }
            }
            #expect(kind == .mismatch)
        }
    }

    @Test(
        "Text is read back unchanged", arguments: ["", "milk", "a\0b", "größer 🙂", "'; DROP TABLE t; --", "\u{FEFF}"])
    func texts(_ text: String) async throws {
        try await withConnection { connection in
            try connection.run("INSERT INTO t (t) VALUES (?)", text)
            let back: String? = try connection.first("SELECT t FROM t") { row in try row[0] }
            #expect(back.map { Array($0.utf8) } == Array(text.utf8))
            let isNull: Bool? = try connection.first("SELECT t IS NULL FROM t") { row in try row[0] }
            #expect(isNull == false)
        }
    }

    @Test(
        "Bytes are read back unchanged", arguments: [[], [0], [0xff, 0, 0xfe], [UInt8](repeating: 7, count: 1 << 20)])
    func bytes(_ bytes: [UInt8]) async throws {
        try await withConnection { connection in
            try connection.run("INSERT INTO t (b) VALUES (?)", bytes)
            let back: [UInt8]? = try connection.first("SELECT b FROM t") { row in try row[0] }
            #expect(back == bytes)
        }
    }

    @Test("Times are exact to the microsecond and sort in SQL")
    func times() async throws {
        try await withConnection { connection in
            let times = [Int64.max, -1, 0, 1_763_757_000_123_456, .min].map(Timestamp.init(microseconds:))
            for time in times { try connection.run("INSERT INTO t (i) VALUES (?)", time) }
            let back = try connection.all("SELECT i FROM t ORDER BY i") { row in try row[0] as Timestamp }
            #expect(back == times.sorted())
        }
    }

    @Test("Enumerations are stored by their raw values, and an unknown value is an error")
    func enumerations() async throws {
        try await withConnection { connection in
            try connection.run("INSERT INTO t (t, i) VALUES (?, ?)", Role.system, Level.high)
            let back = try connection.first("SELECT t, i FROM t") { row in
                (try row[0] as Role, try row[1] as Level, try row[0] as String, try row[1] as Int)
            }
            #expect(back?.0 == .system && back?.1 == .high && back?.2 == "system" && back?.3 == 1)
            #expect(failure { _ = try connection.first("SELECT 'robot'") { row in try row[0] as Role } } == .mismatch)
        }
    }

    @Test("NULL is nil for an optional and an error otherwise")
    func optionals() async throws {
        try await withConnection { connection in
            try connection.run("INSERT INTO t (i, t) VALUES (?, ?)", Int?.none, String?.some("x"))
            let back = try connection.first("SELECT i, t FROM t") { row in
                (try row[0] as Int?, try row[1] as String?)
            }
            #expect(back?.0 == nil && back?.1 == "x")
            #expect(failure { _ = try connection.first("SELECT i FROM t") { row in try row[0] as Int } } == .mismatch)
        }
    }

    @Test("A value of another type is an error and is never read as zero")
    func mismatches() async throws {
        try await withConnection { connection in
            #expect(failure { _ = try connection.first("SELECT 'x'") { row in try row[0] as Int } } == .mismatch)
            #expect(failure { _ = try connection.first("SELECT 1") { row in try row[0] as String } } == .mismatch)
            #expect(failure { _ = try connection.first("SELECT 2") { row in try row[0] as Bool } } == .mismatch)
            #expect(failure { _ = try connection.first("SELECT 1.5") { row in try row[0] as Int } } == .mismatch)
            #expect(failure { _ = try connection.first("SELECT 'x'") { row in try row[0] as [UInt8] } } == .mismatch)
            #expect(failure { _ = try connection.first("SELECT 1") { row in try row[1] as Int } } == .mismatch)
            #expect(failure { _ = try connection.first("SELECT 1") { row in try row[-1] as Int } } == .mismatch)
            #expect(failure { try connection.run("INSERT INTO t (i) VALUES (?)", "x") } == .constraint)
        }
    }

    @Test("Text that is not UTF-8 is an error, and its bytes can be read")
    func invalidText() async throws {
        try await withConnection { connection in
            try connection.run("INSERT INTO t (t) VALUES (CAST(x'61ff62' AS TEXT))")
            #expect(
                failure { _ = try connection.first("SELECT t FROM t") { row in try row[0] as String } } == .mismatch)
            let bytes = try connection.first("SELECT CAST(t AS BLOB) FROM t") { row in try row[0] as [UInt8] }
            #expect(bytes == [0x61, 0xff, 0x62])
        }
    }

    @Test("Any value can be read in its stored type")
    func storedValues() async throws {
        try await withConnection { connection in
            let values = try connection.first("SELECT NULL, 1, 1.5, 'x', x'00'") { row in
                try (0..<5).map { try row[$0] as StoredValue }
            }
            #expect(values == [.null, .integer(1), .real(1.5), .text("x"), .blob([0])])
        }
    }
}
