import CSQLite
public import Capabilities
import FileKit
import Glibc
import LoopKit
import Synchronization

/// A database for many tasks: one writer and a few readers, which do not wait for each other.
///
///     let notes = Database("\(folder)/notes.db", migrations: migrations, durability: .normal)
///     let id = try await notes.write { notes in
///         try notes.run("INSERT INTO notes (text) VALUES (?)", text)
///         return try notes.lastInsertedID
///     }
///     let texts = try await notes.read { notes in
///         try notes.all("SELECT text FROM notes") { row in try row[0] as String }
///     }
///
/// Nothing is opened before the first use. Several programs may use one file at the same time. Call `close` at the end:
/// otherwise the log is moved into the file on an arbitrary thread.
public final class Database: Sendable {
    /// The file.
    public let path: String
    private let opening: DatabaseOpener
    let writer: Pool
    private let readers: Pool
    /// Set once the file exists and its tables are up to date. Only a writer does that.
    private let isPrepared: Prepared
    private let spans: TransactionSpans

    /// Describes the file and its migrations. Waits for locks of other programs fail after `busyLimit`. `notice`
    /// reports a damaged file that was moved aside, in the task of the call that opened it; without `notice`, standard
    /// error does.
    ///
    /// - Parameter leavesLog: whether a short log stays beside the file at the end, because moving it into the file
    /// takes longer than everything else in a short command. Then a copy made by hand needs both files, and deleted
    /// data can still be found in the log.
    /// - Parameter isTraced: whether transactions are recorded as spans. Those of a database of traces must not be.
    public init(
        _ path: String, migrations: [Migration], durability: Durability = .full, leavesLog: Bool = false,
        readers: Int = 3, busyLimit: Duration = .seconds(30), isTraced: Bool = true,
        notice: @escaping @Sendable (StorageNotice) -> Void = { $0.tell(nil) }
    ) {
        let notices = Notices(notice)
        let opening = DatabaseOpener(
            path: path, migrations: migrations, durability: durability, leavesLog: leavesLog, busyLimit: busyLimit,
            notice: notices.add)
        let isPrepared = Prepared()
        self.path = path
        self.opening = opening
        self.isPrepared = isPrepared
        spans = TransactionSpans(ofDatabase: path, isOn: isTraced)
        writer = Pool(path, width: 1, notices: notices) { cancellation in
            let connection = try opening.open(cancellation)
            isPrepared.flag.store(true, ordering: .releasing)
            return connection
        }
        self.readers = Pool(path, width: max(1, readers), notices: notices) { try opening.openReader($0) }
    }

    /// A database in memory, which is gone when it is closed. Only one task uses it at a time.
    ///
    /// - Parameter name: the name in errors.
    public init(inMemory name: String, migrations: [Migration]) {
        var opening = DatabaseOpener(
            path: name, migrations: migrations, durability: .normal, busyLimit: .seconds(30), notice: { _ in })
        opening.isInMemory = true
        path = name
        isPrepared = Prepared()
        self.opening = opening
        spans = TransactionSpans(ofDatabase: name, isOn: true)
        writer = Pool(name, width: 1, notices: Notices { _ in }) { [opening] in try opening.open($0) }
        // Another connection would have a separate database.
        readers = writer
    }

    /// Runs all of `body` in one transaction, or nothing. Transactions run in the order of the calls.
    ///
    /// When the task is cancelled, a waiting transaction is not started, and a running one is stopped and rolled back.
    @discardableResult
    public nonisolated(nonsending) func write<Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Result
    ) async throws -> Result {
        try await spans.recording(.write) {
            try await writer.perform { [opening] connection in
                try opening.noting { try connection.transaction { try body(connection) } }
            }
        }
    }

    /// Lets `body` read one state of the database while others write. When the task is cancelled, it is stopped.
    ///
    /// For a large result, use `forEach` in the body, which takes little memory.
    public nonisolated(nonsending) func read<Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Result
    ) async throws -> Result {
        try await spans.recording(.read) {
            if !isPrepared.flag.load(ordering: .acquiring) { try await writer.perform { _ in } }
            return try await readers.perform { [opening] connection in
                try opening.noting { try connection.snapshot { try body(connection) } }
            }
        }
    }

    /// Like `write` on the calling thread, which it blocks: never call it from a task or inside a write.
    @discardableResult
    public func writeNow<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        precondition(!opening.isInMemory, "a database in memory has one connection, which a task may be using")
        return try spans.recordingNow(.write) {
            try writer.performNow { connection in
                try opening.noting { try connection.transaction { try body(connection) } }
            }
        }
    }

    /// Like `read` on the calling thread, which it blocks while `body` runs.
    public func readNow<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        precondition(!opening.isInMemory, "a database in memory has one connection, which a task may be using")
        return try spans.recordingNow(.read) {
            if !isPrepared.flag.load(ordering: .acquiring) { try writer.performNow { _ in } }
            return try readers.performNow { connection in
                try opening.noting { try connection.snapshot { try body(connection) } }
            }
        }
    }

    /// Reads what is in the file now, on the calling thread and with a connection for this alone: for what a person is
    /// offered while typing.
    ///
    /// It never creates, migrates or repairs the file. Nil if there is no file, if it has other tables, or if it cannot
    /// be read at once: the caller then has nothing to offer, and commands report what is wrong.
    public func glance<Result>(_ body: (Connection) throws -> Result) -> Result? {
        guard !opening.isInMemory, Files.exists(path) else { return nil }
        do {
            let connection = try opening.openGlance(waiting: .milliseconds(100))
            defer { connection.close() }
            return try connection.snapshot { try body(connection) }
        } catch {
            return nil
        }
    }

    /// Waits for accepted work, moves the log into the file unless it may stay, and closes. Later calls are rejected.
    public func close() async {
        await readers.close()
        await writer.close()
    }
}

/// A flag that an initialiser can pass to a closure before the object is complete.
private final class Prepared: Sendable {
    let flag = Atomic(false)
}

extension Database {
    /// Writes a copy of one state of the database to a new file, while others read and write.
    ///
    /// The copy is complete or does not exist: it is written under another name and renamed. An existing file is not
    /// replaced, so that no copy is lost.
    public nonisolated(nonsending) func backup(
        to copy: String, progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws {
        guard !Files.exists(copy) else { throw Self.isThere(copy) }
        let partial = DatabaseFile(path: "\(copy).partial-\(String(UInt64.random(in: .min ... .max), radix: 36))")
        let cancellation = Cancellation()
        do {
            try await withTaskCancellationHandler {
                try await read { source in try source.copy(to: partial, cancellation, progress) }
            } onCancel: {
                cancellation.want()
            }
            do throws(FileError) {
                try Files.rename(partial.path, toNew: copy)
            } catch {
                // A file that got the name meanwhile is not replaced.
                throw error.kind == .exists
                    ? Self.isThere(copy)
                    : StorageError(.open, "cannot rename the copy: \(PlainText.escape(error.message))")
            }
        } catch {
            partial.removeAll()
            throw error
        }
    }

    /// Checks whether a copy could be restored, without changing anything.
    ///
    /// Throws what `restore` would throw for this copy.
    public nonisolated(nonsending) func verify(_ copy: String) async throws {
        let cancellation = Cancellation()
        try await withTaskCancellationHandler {
            try await onOwnThread { [opening] in Result { _ = try opening.soundCopy(copy, cancellation) } }.get()
        } onCancel: {
            cancellation.want()
        }
    }

    private static func isThere(_ copy: String) -> StorageError {
        StorageError(.open, "\(PlainText.escape(copy)) already exists; name a new file for the copy")
    }

    /// Replaces everything with a copy, after checking it. Open connections continue with the new content.
    ///
    /// An error or cancellation during the check and the copy leaves the database unchanged.
    public nonisolated(nonsending) func restore(
        from copy: String, progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws {
        let cancellation = Cancellation()
        try await withTaskCancellationHandler {
            try await writer.perform { [opening] connection in
                let source = try opening.soundCopy(copy, cancellation)
                try PageCopy(from: source.handle, to: connection.handle).run(cancellation) { done, total in
                    progress(Progress("restoring", completed: done, of: total))
                }
                try connection.takeUp(opening.migrations)
            }
        } onCancel: {
            cancellation.want()
        }
    }
}

extension Connection {
    /// Migrates restored tables. The old data is already replaced, so a cancellation comes too late.
    fileprivate func takeUp(_ migrations: [Migration]) throws {
        do {
            try watch.undisturbed { try migrate(migrations) }
        } catch {
            // The next use opens the file again and retries.
            close()
            throw error
        }
    }

    /// Copies the state of this connection into a new file that needs no log.
    ///
    /// Call it in a snapshot, so that writes by others do not restart the copy.
    fileprivate func copy(
        to file: DatabaseFile, _ cancellation: Cancellation, _ progress: @Sendable (Progress) -> Void
    ) throws {
        // A snapshot starts with the first read.
        try run("SELECT count(*) FROM sqlite_schema")
        try file.make()
        let target = Connection(try Handle(file.path, .fill, watch: Watch(limit: watch.limit)))
        try PageCopy(from: handle, to: target.handle).run(cancellation) { done, total in
            progress(Progress("copying", completed: done, of: total))
        }
        try target.run("PRAGMA journal_mode = DELETE")
    }
}

extension Database {
    /// Erases deleted data from the file: from free pages, from the full-text index and from the log. Returns how much
    /// smaller the file is.
    ///
    /// A disk may keep old data in blocks that it no longer shows, which no program can erase. Throws, and does
    /// nothing, while another program has the file open.
    @discardableResult
    public nonisolated(nonsending) func erase() async throws -> ByteCount {
        guard Files.exists(path) else { return ByteCount(0) }
        return try await writer.perform { [opening] connection in
            try opening.file.requireAlone()
            try connection.run("PRAGMA secure_delete = ON")
            defer { connection.takeBack("PRAGMA secure_delete = OFF") }
            try connection.transaction { try connection.rebuildIndexesOfWords() }
            let (freed, isLogEmpty) = try connection.compact(opening.file)
            guard isLogEmpty else {
                throw StorageError(
                    .busy,
                    "the log of \(PlainText.escape(opening.path)) cannot be emptied while another connection reads; "
                        + "try again when it is done")
            }
            return freed
        }
    }

    /// The damaged files that were moved aside, the oldest first.
    public var setAsides: [String] { get throws { try opening.file.setAsides } }

    /// Removes the files that were moved aside, and returns their names.
    public func removeSetAsides() throws -> [String] { try opening.file.removeSetAsides() }

    /// Other programs that have the file open, such as `martlet (process 4711)`.
    public func holders() throws -> [String] { try opening.file.holders().map(\.words) }

    /// Throws, with their names, while other programs have the file open.
    public nonisolated(nonsending) func requireAlone() async throws {
        guard Files.exists(path) else { return }
        // With an own connection, the kernel's list of locks shows its device number of the file.
        try await writer.perform { [opening] _ in try opening.file.requireAlone() }
    }
}

extension Connection {
    /// A full-text index keeps the words of a deleted row until it happens to be merged.
    fileprivate func rebuildIndexesOfWords() throws {
        let names = try all(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE % USING fts5%'"
        ) { row in try row[0] as String }
        for name in names {
            let quoted =
                "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
            try run(SQL(raw: "INSERT INTO \(quoted) (\(quoted)) VALUES ('rebuild')"))
        }
    }
}

extension Database {
    /// Checks the whole file for damage without changing it. Returns a sentence for each finding.
    ///
    /// A newer or foreign file throws, as on opening.
    public nonisolated(nonsending) func check() async throws -> [String] {
        guard Files.exists(path) else { return [] }
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await onOwnThread { [opening] in Result { try opening.findings(cancellation) } }.get()
        } onCancel: {
            cancellation.want()
        }
    }

    /// Rewrites the file without unused space. Returns how much smaller it is.
    public nonisolated(nonsending) func compact() async throws -> ByteCount {
        try await writer.perform { [opening] connection in try connection.compact(opening.file).freed }
    }

    /// Lets SQLite analyse its indexes, so that it chooses the best ones. Useful after many changes.
    public nonisolated(nonsending) func optimize() async throws {
        try await writer.perform { connection in try connection.run("PRAGMA optimize") }
    }
}

extension Connection {
    /// Rewrites the file without unused space. Returns how much smaller it is, and whether the log is empty, which is
    /// not possible while another connection reads.
    func compact(_ file: DatabaseFile) throws -> (freed: ByteCount, isLogEmpty: Bool) {
        let before = try file.size
        // This writes the whole database once more, to an unnamed file if it is large.
        let isLarge = before > 64 << 20
        if isLarge { try run("PRAGMA temp_store = FILE") }
        defer { if isLarge { takeBack("PRAGMA temp_store = MEMORY") } }
        try run("VACUUM")
        let isBusy = try first("PRAGMA wal_checkpoint(TRUNCATE)") { row in try row[0] as Int }
        return (ByteCount(max(0, before - (try file.size))), isBusy == 0)
    }
}

extension Connection {
    /// Resets a setting of this connection, even after a failure.
    func takeBack(_ statement: SQL) {
        // A connection that cannot do this is broken, and its next use reports that.
        do { try run(statement) } catch {}
    }
}

extension Database {
    /// The version of the loaded SQLite.
    public static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }
}
