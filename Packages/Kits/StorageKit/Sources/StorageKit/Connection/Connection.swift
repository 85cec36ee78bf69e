import CSQLite
import Glibc

/// One connection to a database, for one thread at a time.
///
///     let id = 7
///     try connection.run("INSERT INTO notes (id, text) VALUES (?, ?)", id, "milk")
///     let text: String? = try connection.first("SELECT text FROM notes WHERE id = ?", id) { row in try row[0] }
///
/// Values are bound and read by their types. `Database` lends connections; `Connection.open` makes one of one's own.
public final class Connection {
    /// The file as the caller named it.
    public let path: String
    let watch: Watch
    /// How many transactions and savepoints are open.
    var depth = 0
    /// How large a log may be that is left beside the file at the end, instead of being moved into it.
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

    /// Whether nothing more can be done with it.
    public var isClosed: Bool { opened == nil }

    /// Whether another file has the name of the one that is open.
    var hasMoved: Bool { opened?.hasMoved ?? false }

    /// Closes it; a transaction that is open is rolled back. Once is enough, twice does no harm.
    public func close() {
        cache.removeAll()
        if let opened, let largestLogLeft, !DatabaseFile(path: path).hasLog(longerThan: largestLogLeft) {
            opened.movesLogAtEnd = false
        }
        opened = nil
    }

    /// Leaves a small log where it is when the last connection closes.
    ///
    /// Moving it waits for the disk several times, which takes longer than all else that a short command does. The next
    /// connection reads it again, so it has to be small.
    func leaveLog(upTo bytes: Int) {
        largestLogLeft = bytes
    }

    var handle: Handle {
        get throws(StorageError) {
            guard let opened else { throw .closed(path) }
            return opened
        }
    }

    /// Lends a prepared statement with its values bound.
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
        // So that an error does not look at a number from before.
        errno = 0
        return try body(statement, handle)
    }

    /// The handle, unless the work was cancelled or its transaction is gone.
    ///
    /// Some errors, such as a full disk, make SQLite roll the whole transaction back. What came after would be stored
    /// piece by piece, if the caller caught that error and went on.
    func ready() throws -> Handle {
        let handle = try handle
        if watch.isCancelled { throw CancellationError() }
        if depth > 0, handle.isIdle {
            throw StorageError(.statement, "the transaction was undone by an earlier error; begin it again")
        }
        return handle
    }
}
