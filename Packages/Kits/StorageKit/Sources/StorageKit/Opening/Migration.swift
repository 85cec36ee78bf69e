import Capabilities
import Cryptography

/// One step from an older version of the tables to a newer one. A released migration is never changed; changes need a
/// new one.
///
///     static let migrations = [
///         Migration("notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT"),
///         Migration("dates", "ALTER TABLE notes ADD COLUMN changed INTEGER NOT NULL DEFAULT 0"),
///     ]
///
/// Tables are STRICT, so that a column contains only its declared type. The statements of one migration are one
/// transaction and must not contain BEGIN or COMMIT.
///
/// Changes beyond ALTER TABLE need a new table, a copy of the rows, DROP TABLE and a rename. Foreign keys are off in a
/// migration that drops a table, so that rows that point to it are kept, and are checked at its end.
public struct Migration: Sendable {
    let name: String
    let sql: SQL

    /// - Parameter name: identifies the migration in errors and in the database.
    public init(_ name: String, _ sql: SQL) {
        self.name = name
        self.sql = sql
    }

    /// Whether it drops a table. With foreign keys on, that would also delete the rows that point to it.
    var dropsTable: Bool {
        sql.text.uppercased().split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("DROP TABLE")
    }

    /// Shows whether a completed migration is the one known here.
    var checksum: String { Hexadecimal.encode(Digest.sha256(Array(sql.text.utf8))) }
}
