import CSQLite
public import Capabilities
import FileKit
import Glibc
import LoopKit
import Synchronization

/// A database for many tasks: one writer and a few readers, who do not wait for each other.
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
/// Nothing is opened before the first use. Several programs may use one file at the same time. `close` it at the end: a
/// database that is only let go of moves its log into the file on whatever thread that happens.
public final class Database: Sendable {
    /// The file.
    public let path: String
    let opening: Opening
    let writer: Pool
    let readers: Pool
    /// Set once the file is there and its tables are up to date, which only a writer sees to.
    private let isPrepared: Prepared

    /// Names the file and its form. Waits for the locks of other programs end with an error after `busyLimit`;
    /// `notice` is told when a damaged file was set aside, in the task of the call that opened it; standard error, where
    /// nothing else is said.
    ///
    /// - Parameter leavesLog: whether a short log stays beside the file at the end, since moving it into the file takes
    ///   longer than all else that a short command does. Then the file alone is not the whole: a copy made by hand needs
    ///   both, and what was deleted can still be found in the log.
    public init(
        _ path: String, migrations: [Migration], durability: Durability = .full, leavesLog: Bool = false,
        readers: Int = 3, busyLimit: Duration = .seconds(30),
        notice: @escaping @Sendable (StorageNotice) -> Void = { $0.tell(nil) }
    ) {
        let notices = Notices(notice)
        let opening = Opening(
            path: path, migrations: migrations, durability: durability, leavesLog: leavesLog, busyLimit: busyLimit,
            notice: notices.add)
        let isPrepared = Prepared()
        self.path = path
        self.opening = opening
        self.isPrepared = isPrepared
        writer = Pool(path, width: 1, notices: notices) { cancellation in
            let connection = try opening.open(cancellation)
            isPrepared.flag.store(true, ordering: .releasing)
            return connection
        }
        self.readers = Pool(path, width: max(1, readers), notices: notices) { try opening.openReader($0) }
    }

    /// A database in memory, of which nothing is left when it is closed. One task at a time uses it.
    ///
    /// - Parameter name: what it is called in errors.
    public init(inMemory name: String, migrations: [Migration]) {
        var opening = Opening(
            path: name, migrations: migrations, durability: .normal, busyLimit: .seconds(30), notice: { _ in })
        opening.isInMemory = true
        path = name
        isPrepared = Prepared()
        self.opening = opening
        writer = Pool(name, width: 1, notices: Notices { _ in }) { [opening] in try opening.open($0) }
        // Another connection would have a memory of its own.
        readers = writer
    }

    /// Does all of `body` in one transaction, or nothing. Transactions follow each other in the order of the calls.
    ///
    /// When the task is cancelled, a transaction that waits is not begun, and one that runs is stopped and rolled back.
    @discardableResult
    public nonisolated(nonsending) func write<Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Result
    ) async throws -> Result {
        try await writer.perform { [opening] connection in
            try opening.noting { try connection.transaction { try body(connection) } }
        }
    }

    /// Lets `body` read one state of the database, while others write. When the task is cancelled it is stopped.
    ///
    /// For a large result, `forEach` in the body takes little memory.
    public nonisolated(nonsending) func read<Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Result
    ) async throws -> Result {
        if !isPrepared.flag.load(ordering: .acquiring) { try await writer.perform { _ in } }
        return try await readers.perform { [opening] connection in
            try opening.noting { try connection.snapshot { try body(connection) } }
        }
    }

    /// The same as `write` on the caller's own thread, which it blocks: never call it from a task or inside a write.
    @discardableResult
    public func writeNow<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        precondition(!opening.isInMemory, "a database in memory has one connection, which a task may be using")
        return try writer.performNow { connection in
            try opening.noting { try connection.transaction { try body(connection) } }
        }
    }

    /// The same as `read` on the caller's own thread, which it blocks for as long as the body takes.
    public func readNow<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        precondition(!opening.isInMemory, "a database in memory has one connection, which a task may be using")
        if !isPrepared.flag.load(ordering: .acquiring) { try writer.performNow { _ in } }
        return try readers.performNow { connection in
            try opening.noting { try connection.snapshot { try body(connection) } }
        }
    }

    /// Waits for the work that was accepted, moves the log into the file, unless it may stay, and closes. Later calls
    /// are refused.
    public func close() async {
        await readers.close()
        await writer.close()
    }
}

/// A flag that an initialiser can hand to a closure before the object that keeps it is complete.
private final class Prepared: Sendable {
    let flag = Atomic(false)
}

extension Opening {
    /// Remembers when the work meets damage, so that the next start looks through the whole file.
    func noting<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StorageError where error.kind == .damaged {
            if !isInMemory { file.suspect() }
            throw error
        }
    }
}

extension Database {
    /// Writes a copy of one state of the database to a new file, while others read and write.
    ///
    /// The copy is complete or not there: it is written under another name and renamed. An older file of that name is
    /// refused, so that no copy is lost.
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
                // Somebody else's file that has the name by now is not replaced.
                throw error.kind == .exists
                    ? Self.isThere(copy)
                    : StorageError(.open, "cannot give the copy its name: \(PlainText.escape(error.message))")
            }
        } catch {
            partial.removeAll()
            throw error
        }
    }

    /// Looks whether a copy could be restored, and changes nothing.
    ///
    /// Throws what `restore` would throw because of the copy.
    public nonisolated(nonsending) func verify(_ copy: String) async throws {
        let cancellation = Cancellation()
        try await withTaskCancellationHandler {
            try await onOwnThread { [opening] in Result { _ = try opening.soundCopy(copy, cancellation) } }.get()
        } onCancel: {
            cancellation.want()
        }
    }

    private static func isThere(_ copy: String) -> StorageError {
        StorageError(.open, "\(PlainText.escape(copy)) is there already; name a new file for the copy")
    }

    /// Replaces everything by a copy, after the copy was found sound. Open connections go on with the new content.
    ///
    /// An error or cancellation while it is checked and copied leaves the database as it was.
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

extension Opening {
    /// A connection to a copy that is whole, and of a form that is known here.
    fileprivate func soundCopy(_ copy: String, _ cancellation: Cancellation) throws -> Connection {
        let name = PlainText.escape(copy)
        do {
            let source = try inspect(copy, cancellation)
            try source.requireOwn()
            // SQLite takes an empty file for a new database, but a copy has at least the tables of the first version.
            guard try source.isMarked() else {
                throw StorageError(.damaged, "the copy \(name) is empty; take an older one")
            }
            _ = try source.requireKnown(migrations)
            if let damage = try source.damage(limit: 1, isQuick: false).first {
                throw StorageError(.damaged, "the copy \(name) is damaged: \(damage); take an older one")
            }
            return source
        } catch let error as StorageError where error.kind == .damaged && error.resultCode != 0 {
            // The words for a database that is in use promise what does not happen to a copy.
            throw StorageError(
                .damaged, "the copy \(name) is damaged and cannot be read; take an older one",
                resultCode: error.resultCode)
        }
    }
}

extension Connection {
    /// Brings restored tables up to date. The old ones are gone by now, so a wish to stop comes too late.
    fileprivate func takeUp(_ migrations: [Migration]) throws {
        do {
            try watch.undisturbed { try migrate(migrations) }
        } catch {
            // The next use opens the file anew and tries again.
            close()
            throw error
        }
    }

    /// Copies what this connection sees into a new file that needs no log beside it.
    ///
    /// Called in a snapshot: nothing that others write meanwhile makes the copy begin again.
    fileprivate func copy(
        to file: DatabaseFile, _ cancellation: Cancellation, _ progress: @Sendable (Progress) -> Void
    ) throws {
        // A snapshot begins with the first look at the database.
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
    /// Leaves nothing in the file of what was deleted before: neither in free pages, nor in the index of words, nor in the
    /// log. Tells how much smaller it is.
    ///
    /// A disk may keep what was once in a block that it does not show any more; no program can promise more than files.
    /// Throws, and has done nothing, while another program has the file open.
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
                    "the log of \(PlainText.escape(opening.path)) cannot be emptied while somebody reads; try again "
                        + "when they are done")
            }
            return freed
        }
    }

    /// The files that were set aside because they were damaged, the oldest first.
    public var setAsides: [String] { get throws { try opening.file.setAsides } }

    /// Removes the files that were set aside, and tells which these were.
    public func removeSetAsides() throws -> [String] { try opening.file.removeSetAsides() }

    /// Other programs that have the file open, such as `martlet (process 4711)`.
    public func holders() throws -> [String] { try opening.file.holders().map(\.words) }

    /// Throws with their names while other programs have the file open.
    public nonisolated(nonsending) func requireAlone() async throws {
        guard Files.exists(path) else { return }
        // With a connection of our own, the kernel's list of locks shows by which device it knows the file.
        try await writer.perform { [opening] _ in try opening.file.requireAlone() }
    }
}

extension DatabaseFile {
    fileprivate func requireAlone() throws {
        let holders = try holders().map(\.words)
        guard holders.isEmpty else {
            throw StorageError(
                .busy,
                "\(PlainText.escape(path)) is open in \(holders.joined(separator: ", ")); end that first, and try again"
            )
        }
    }
}

extension Connection {
    /// An index keeps the words of a row that was deleted until it happens to be merged.
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
    /// Looks through the whole file for damage, as it is, and gives a sentence for each finding.
    ///
    /// One that would not be opened, because it is newer or of another program, throws as opening does.
    public nonisolated(nonsending) func check() async throws -> [String] {
        guard Files.exists(path) else { return [] }
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await onOwnThread { [opening] in Result { try opening.findings(cancellation) } }.get()
        } onCancel: {
            cancellation.want()
        }
    }

    /// Writes the file anew without the space that nothing uses, and tells how much smaller it is.
    public nonisolated(nonsending) func compact() async throws -> ByteCount {
        try await writer.perform { [opening] connection in try connection.compact(opening.file).freed }
    }

    /// Lets SQLite look at its indexes, so that it chooses well among them. Worth it after much has changed.
    public nonisolated(nonsending) func optimize() async throws {
        try await writer.perform { connection in try connection.run("PRAGMA optimize") }
    }
}

extension Connection {
    /// Writes the file anew without the space that nothing uses. Tells how much smaller it is, and whether the log is
    /// empty, which it cannot be made while somebody reads.
    func compact(_ file: DatabaseFile) throws -> (freed: ByteCount, isLogEmpty: Bool) {
        let before = try file.size
        // The whole database is written once more on the way. What is large goes to a file without a name for that.
        let isLarge = before > 64 << 20
        if isLarge { try run("PRAGMA temp_store = FILE") }
        defer { if isLarge { takeBack("PRAGMA temp_store = MEMORY") } }
        try run("VACUUM")
        let isBusy = try first("PRAGMA wal_checkpoint(TRUNCATE)") { row in try row[0] as Int }
        return (ByteCount(max(0, before - (try file.size))), isBusy == 0)
    }
}

extension Connection {
    /// Ends a setting of this connection, also after a failure.
    func takeBack(_ statement: SQL) {
        // One that cannot even do this is broken, which its next use says.
        do { try run(statement) } catch {}
    }
}

extension Opening {
    fileprivate func findings(_ cancellation: Cancellation) throws -> [String] {
        do {
            let connection = try inspect(path, cancellation)
            try connection.requireOwn()
            _ = try connection.requireKnown(migrations)
            let orphans = try connection.all("PRAGMA foreign_key_check") { row in
                "a row of table \(try row[0] as String) points to nothing in \(try row[2] as String)"
            }
            return (try connection.damage(limit: 20, isQuick: false) + orphans.prefix(20)).map(PlainText.escape)
        } catch let error as StorageError where error.kind == .damaged {
            return [error.message]
        }
    }
}

extension Database {
    /// The version of SQLite that is loaded, as it says itself.
    public static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }
}
