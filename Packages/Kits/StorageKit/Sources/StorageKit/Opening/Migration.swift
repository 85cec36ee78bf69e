import Cryptography

/// One step from an older form of the tables to a newer one. What was released is never changed, only followed.
///
///     static let migrations = [
///         Migration("notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT"),
///         Migration("dates", "ALTER TABLE notes ADD COLUMN changed INTEGER NOT NULL DEFAULT 0"),
///     ]
///
/// Tables are STRICT, so that a column holds what its declaration says. The statements of one step are one transaction
/// and hold no BEGIN or COMMIT of their own.
///
/// What ALTER TABLE cannot do takes a new table, a copy of the rows, DROP TABLE and a new name. Foreign keys sleep in a
/// step that drops a table, so that those who point to it keep their rows, and are checked at its end.
public struct Migration: Sendable {
    let name: String
    let sql: SQL

    public init(_ name: String, _ sql: SQL) {
        self.name = name
        self.sql = sql
    }

    /// Whether it drops a table, and with it, where foreign keys are awake, the rows of all that point to it.
    var dropsTable: Bool {
        sql.text.uppercased().split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("DROP TABLE")
    }

    /// Tells whether a step that was taken is the one known here.
    var checksum: String { Hexadecimal.encode(Digest.sha256(Array(sql.text.utf8))) }
}
