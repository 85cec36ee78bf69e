import Capabilities

extension Connection {
    /// "Mrtl", by which `file` and other programs can tell whose database it is.
    static let applicationID = 0x4D72_746C

    /// Refuses a database of another program, before anything is changed in it. An empty one is nobody's yet.
    func requireOwn() throws {
        // In one look, for another program may take an empty file for its own between two.
        let isOwn = try snapshot {
            let id: Int = try first("PRAGMA application_id") { row in try row[0] } ?? 0
            let entries: Int = try first("SELECT count(*) FROM sqlite_schema") { row in try row[0] } ?? 0
            return id == Self.applicationID || id == 0 && entries == 0
        }
        guard isOwn else {
            throw StorageError(
                .foreign,
                "\(PlainText.escape(path)) is a database of another program; move it away or name another file")
        }
    }

    /// Takes the steps that are missing, each in a transaction with the note of it.
    ///
    /// Two programs may do this at once: whoever comes second looks again under the lock and finds the step taken.
    func migrate(_ migrations: [Migration]) throws {
        while case let next = try requireKnown(migrations), try next < migrations.count || !isMarked() {
            let dropsTable = next < migrations.count && migrations[next].dropsTable
            // Inside of a transaction this would do nothing.
            if dropsTable { try run("PRAGMA foreign_keys = OFF") }
            defer { if dropsTable { wakeForeignKeys() } }
            try transaction {
                let taken = try requireKnown(migrations)
                if try !isMarked() { try mark() }
                guard taken < migrations.count, taken == next else { return }
                let orphans = dropsTable ? try orphanCount : 0
                let migration = migrations[taken]
                try runScript(migration.sql)
                if dropsTable, try orphanCount > orphans {
                    throw StorageError(
                        .constraint,
                        "the step '\(migration.name)' of \(PlainText.escape(path)) leaves rows that point to nothing")
                }
                try run(
                    "INSERT INTO storage_migrations (version, name, checksum) VALUES (?, ?, ?)",
                    taken + 1, migration.name, migration.checksum)
            }
        }
    }

    private var orphanCount: Int {
        get throws { try first("SELECT count(*) FROM pragma_foreign_key_check") { row in try row[0] } ?? 0 }
    }

    private func wakeForeignKeys() {
        // A connection that forgot its rules would let anything in.
        do { try watch.undisturbed { _ = try run("PRAGMA foreign_keys = ON") } } catch { close() }
    }

    /// How many steps were taken; throws unless they are the first of those known here.
    func requireKnown(_ migrations: [Migration]) throws -> Int {
        guard try isMarked() else { return 0 }
        let sql: SQL = "SELECT name, checksum FROM storage_migrations ORDER BY version"
        let taken = try all(sql) { row in (name: try row[0] as String, checksum: try row[1] as String) }
        for (step, known) in zip(taken, migrations) where step.checksum != known.checksum {
            throw StorageError(
                .changed,
                """
                the tables in \(PlainText.escape(path)) come from another step '\(PlainText.escape(step.name))' than \
                this version knows; use the version that made them, or move the file away
                """)
        }
        guard taken.count <= migrations.count else {
            throw StorageError(
                .newer,
                """
                \(PlainText.escape(path)) was changed by a newer version (\(taken.count) steps, this one knows \
                \(migrations.count)); use that version, or move the file away
                """)
        }
        return taken.count
    }

    /// Whether this package has made tables in it.
    func isMarked() throws -> Bool {
        try first("SELECT 1 FROM sqlite_schema WHERE name = 'storage_migrations'") { _ in true } ?? false
    }

    private func mark() throws {
        try runScript(
            """
            CREATE TABLE storage_migrations (
                version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT;
            PRAGMA application_id = 0x4D72746C;
            """)
    }
}
