import CSQLite
import Capabilities
import Glibc

/// One connection to a database, for one thread at a time.
///
///     let id = 7
///     try connection.run("INSERT INTO notes (id, text) VALUES (?, ?)", id, "milk")
///     let text: String? = try connection.first("SELECT text FROM notes WHERE id = ?", id) { row in try row[0] }
///
/// Values are bound and read by their types. `Database` provides connections; `Connection.open` creates a separate one.
public final class Connection {
    /// The file as the caller named it.
    public let path: String
    let watch: Watch
    /// How many transactions and savepoints are open.
    private var depth = 0
    /// The largest log that is left beside the file at the end instead of being moved into it.
    private var largestLogLeft: Int?
    private var opened: Handle?
    private var cache = StatementCache()

    init(_ handle: Handle) {
        opened = handle
        path = handle.path
        watch = handle.watch
    }

    /// The id of the row that this connection inserted last.
    public var lastInsertedID: Int64 {
        get throws { unsafe sqlite3_last_insert_rowid(try handle.raw) }
    }

    /// Whether it is closed.
    public var isClosed: Bool { opened == nil }

    /// Whether another file now has the name of the open one.
    var hasMoved: Bool { opened?.hasMoved ?? false }

    /// Closes it. An open transaction is rolled back. Closing twice does no harm.
    public func close() {
        cache.removeAll()
        if let opened, let largestLogLeft, !DatabaseFile(path: path).hasLog(longerThan: largestLogLeft) {
            opened.movesLogAtEnd = false
        }
        opened = nil
    }

    /// Leaves a small log beside the file when the last connection closes.
    ///
    /// Moving the log waits for the disk several times, which takes longer than everything else in a short command. The
    /// next connection reads it again, so it must be small.
    func leaveLog(upTo bytes: Int) {
        largestLogLeft = bytes
    }

    var handle: Handle {
        get throws(StorageError) {
            guard let opened else { throw .closed(path) }
            return opened
        }
    }

    /// Passes a prepared statement with bound values to `body`.
    func withStatement<Result>(
        _ sql: SQL, _ values: [StoredValue], body: (Statement, Handle) throws -> Result
    ) throws -> Result {
        let handle = try ready()
        let statement = try cache.take(sql.text) ?? Statement(sql.text, on: handle)
        defer {
            statement.reset()
            if !isClosed { cache.put(statement) }
        }
        try statement.bind(values)
        // So that an error does not report an old number.
        errno = 0
        return try body(statement, handle)
    }

    /// The handle, unless the work was cancelled or its transaction is gone.
    ///
    /// Some errors, such as a full disk, make SQLite roll the whole transaction back. If the caller catches such an
    /// error and continues, later statements would be stored one by one.
    func ready() throws -> Handle {
        let handle = try handle
        if watch.isCancelled { throw CancellationError() }
        if depth > 0, handle.isIdle {
            throw StorageError(.statement, "an earlier error rolled the transaction back; start it again")
        }
        return handle
    }
}

extension Connection {
    /// "Mrtl", which identifies the database for `file` and other programs.
    private static let applicationID = 0x4D72_746C

    /// Rejects a database of another program before changing it. An empty one is accepted.
    func requireOwn() throws {
        // In one snapshot, because another program may claim an empty file in between.
        let isOwn = try snapshot {
            let id: Int = try first("PRAGMA application_id") { row in try row[0] } ?? 0
            let entries: Int = try first("SELECT count(*) FROM sqlite_schema") { row in try row[0] } ?? 0
            return id == Self.applicationID || id == 0 && entries == 0
        }
        guard isOwn else {
            throw StorageError(
                .foreign,
                "\(PlainText.escape(path)) is a database of another program; move it away or use another file")
        }
    }

    /// Runs the missing migrations, each in a transaction together with its record.
    ///
    /// Two programs may do this at once: the second checks again under the lock and finds the migration done.
    func migrate(_ migrations: [Migration]) throws {
        while case let next = try requireKnown(migrations), try next < migrations.count || !isMarked() {
            let dropsTable = next < migrations.count && migrations[next].dropsTable
            // Inside a transaction this would have no effect.
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
                        "the migration '\(migration.name)' of \(PlainText.escape(path)) leaves rows that point to missing rows"
                    )
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
        // A connection without its rules would accept invalid rows, so it is closed.
        do { try watch.undisturbed { _ = try run("PRAGMA foreign_keys = ON") } } catch { close() }
    }

    /// The number of completed migrations. Throws unless they are the first of those known here.
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

    /// Whether this package has created tables in it.
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

extension Connection {
    /// Opens a database for the calling thread: creates it if it is missing, and migrates its tables.
    ///
    /// A damaged file is moved aside, which is reported by `notice` or on standard error. A newer, changed or foreign
    /// file is rejected. Waits block the thread, for at most `busyLimit` each.
    public static func open(
        _ path: String, migrations: [Migration], durability: Durability = .full, busyLimit: Duration = .seconds(30),
        notice: @escaping @Sendable (StorageNotice) -> Void = { $0.tell(nil) }
    ) throws -> Connection {
        let opening = DatabaseOpener(
            path: path, migrations: migrations, durability: durability, busyLimit: busyLimit, notice: notice)
        return try opening.open()
    }

    /// Lets readers and a writer work at the same time, with a log beside the file. The setting is stored in the file.
    ///
    /// The change needs exclusive access, and does not always wait for it itself.
    func useLog(within limit: Duration) throws {
        let deadline = ContinuousClock.now + limit
        while true {
            do {
                let mode: String? = try first("PRAGMA journal_mode = WAL") { row in try row[0] }
                if mode == "wal" { return }
                throw StorageError.sharesNoMemory(path)
            } catch let error as StorageError where error.kind == .busy {
                guard ContinuousClock.now < deadline else { throw error }
                usleep(5000)
            }
        }
    }

    /// The damage in the file, as sentences. A quick check does not compare indexes with their tables.
    func damage(limit: Int, isQuick: Bool) throws -> [String] {
        let sql = SQL(raw: "PRAGMA \(isQuick ? "quick_check" : "integrity_check")(\(limit))")
        return try all(sql) { row in try row[0] as String }.filter { $0 != "ok" }
    }
}

extension Connection {
    /// Runs one statement. Returns the number of changed rows for INSERT, UPDATE and DELETE.
    @discardableResult
    public func run<each Value: Storable>(_ sql: SQL, _ values: repeat each Value) throws -> Int {
        try withStatement(sql, list(repeat each values)) { statement, handle in
            while try statement.step() {}
            return Int(unsafe sqlite3_changes64(handle.raw))
        }
    }

    /// All rows, converted by `row`.
    public func all<Element, each Value: Storable>(
        _ sql: SQL, _ values: repeat each Value, row: (borrowing Row) throws -> Element
    ) throws -> [Element] {
        try withStatement(sql, list(repeat each values)) { statement, _ in
            var elements: [Element] = []
            while try statement.step() { elements.append(try statement.lend(to: row)) }
            return elements
        }
    }

    /// The first row, or nil when there is none.
    public func first<Element, each Value: Storable>(
        _ sql: SQL, _ values: repeat each Value, row: (borrowing Row) throws -> Element
    ) throws -> Element? {
        try withStatement(sql, list(repeat each values)) { statement, _ in
            try statement.step() ? try statement.lend(to: row) : nil
        }
    }

    /// Passes the rows to `body` one by one, so that a result of any size takes little memory. An error ends it.
    public func forEach<each Value: Storable>(
        _ sql: SQL, _ values: repeat each Value, row: (borrowing Row) throws -> Void
    ) throws {
        try forEach(sql, listing: list(repeat each values), row: row)
    }

    /// The same for a statement whose number of values is known only at run time.
    public func forEach(
        _ sql: SQL, listing values: [StoredValue], row: (borrowing Row) throws -> Void
    ) throws {
        try withStatement(sql, values) { statement, _ in
            while try statement.step() { try statement.lend(to: row) }
        }
    }

    /// Runs every statement of a text, such as a migration, without values or rows.
    public func runScript(_ sql: SQL) throws {
        try Statement.runAll(sql.text, on: try ready())
    }

    /// The values of one call. Only this function is generic over them.
    private func list<each Value: Storable>(_ values: repeat each Value) -> [StoredValue] {
        var list: [StoredValue] = []
        for value in repeat each values { list.append(value.stored) }
        return list
    }
}

extension Connection {
    /// Runs all of `body` or nothing: an error rolls back and is thrown. Inside another transaction it is a savepoint.
    ///
    /// The write lock is taken at the start (BEGIN IMMEDIATE), where it can be waited for. A transaction that starts to
    /// write later may be refused although it could have waited.
    @discardableResult
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try depth == 0
            ? enclose(body, "BEGIN IMMEDIATE", end: "COMMIT", undo: ["ROLLBACK"])
            : enclose(body, "SAVEPOINT nested", end: "RELEASE nested", undo: ["ROLLBACK TO nested", "RELEASE nested"])
    }

    /// Lets `body` see one state of the database, whatever others write meanwhile.
    public func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try depth == 0 ? enclose(body, "BEGIN", end: "COMMIT", undo: ["ROLLBACK"]) : body()
    }

    private func enclose<Result>(_ body: () throws -> Result, _ begin: SQL, end: SQL, undo: [SQL]) throws -> Result {
        try run(begin)
        depth += 1
        defer { depth -= 1 }
        do {
            let result = try body()
            // A cancellation still counts here, but not during the commit.
            _ = try ready()
            try watch.undisturbed { _ = try run(end) }
            return result
        } catch {
            watch.undisturbed { takeBack(undo) }
            throw error
        }
    }

    /// Rolls back the innermost transaction. The caller gets the original error.
    private func takeBack(_ undo: [SQL]) {
        do {
            // After some errors SQLite has already rolled back.
            guard try !handle.isIdle else { return }
            for step in undo { try run(step) }
        } catch {
            // Closing always rolls back. Further use of this connection reports that it is closed.
            close()
        }
    }
}
