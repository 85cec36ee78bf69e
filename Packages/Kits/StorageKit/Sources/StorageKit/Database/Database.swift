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
