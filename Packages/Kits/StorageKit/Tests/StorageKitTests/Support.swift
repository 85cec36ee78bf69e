import FileKit
import Glibc
import StorageKit
import Synchronization
import Testing

/// The kind of the `StorageError` that the body throws, or nil if it throws none.
func failure(_ body: () throws -> Void) -> StorageError.Kind? {
    do {
        try body()
        return nil
    } catch {
        return (error as? StorageError)?.kind
    }
}

func failure(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async -> StorageError.Kind? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? StorageError)?.kind
    }
}

/// Runs a shell command that must succeed and returns its output.
func shell(_ command: String) throws -> String {
    guard let stream = unsafe popen(command, "r") else { throw TestProblem("\(command) cannot be started") }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = unsafe fread(&chunk, 1, chunk.count, stream), count > 0 { bytes += chunk.prefix(count) }
    let status = unsafe pclose(stream)
    try #require(status == 0, "\(command) ended with \(status)")
    return String(decoding: bytes, as: UTF8.self)
}

struct TestProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A table of notes for most tests.
let notes = [
    Migration("notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT"),
    Migration("authors", "ALTER TABLE notes ADD COLUMN author TEXT"),
]

extension Connection {
    func add(_ text: String) throws {
        try run("INSERT INTO notes (text) VALUES (?)", text)
    }

    var count: Int {
        get throws { try first("SELECT count(*) FROM notes") { row in try row[0] } ?? -1 }
    }

    var texts: [String] {
        get throws { try all("SELECT text FROM notes ORDER BY id") { row in try row[0] as String } }
    }
}

extension Database {
    /// An endless query, for tests that stop a statement.
    static let endless: SQL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
}

/// A flag that threads and tasks share.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() {
        value.store(true, ordering: .releasing)
    }
}

/// A lock that SQLite cannot distinguish from another program's.
enum Lock {
    static func hold(
        isolation: isolated (any Actor)? = #isolation, _ connection: Connection, during body: () async throws -> Void
    ) async throws {
        try connection.run("BEGIN IMMEDIATE")
        try await body()
        try connection.run("ROLLBACK")
        connection.close()
    }
}
