import Capabilities
import FileKit
import Glibc

/// How a file becomes a connection to a sound database of the present form.
struct DatabaseOpener: Sendable {
    let path: String
    let migrations: [Migration]
    let durability: Durability
    var leavesLog = false
    /// Whether the database is in memory only, and gone when the connection closes.
    var isInMemory = false
    let busyLimit: Duration
    let notice: @Sendable (StorageNotice) -> Void
    /// Checking a file larger than this takes so long that the user is told the reason for the wait.
    var longLook = 64 << 20

    var file: DatabaseFile { DatabaseFile(path: path) }

    /// Makes the file if it is missing, sets it aside if it is damaged, and brings its tables up to date.
    func open(_ cancellation: Cancellation? = nil) throws -> Connection {
        if isInMemory {
            let connection = try connect(.memory, cancellation)
            try connection.migrate(migrations)
            return connection
        }
        do {
            return try openSound(cancellation)
        } catch let error as StorageError where error.kind == .damaged {
            return try repair(cancellation)
        }
    }

    /// A connection that cannot change anything, to a database that was opened for writing before.
    func openReader(_ cancellation: Cancellation? = nil) throws -> Connection {
        let connection = try connect(.read, cancellation)
        try connection.run("PRAGMA query_only = ON")
        return connection
    }

    /// A connection that reads what is in an existing file, and waits for others no longer than `limit`.
    func openGlance(waiting limit: Duration) throws -> Connection {
        let hasLog = file.hasLog(longerThan: 0)
        let connection = Connection(try Handle(path, .read, watch: Watch(limit: limit)))
        // A connection that closes last would move an existing log into the file. A log that this connection made is
        // empty, and is removed.
        if hasLog { connection.leaveLog(upTo: .max) }
        try connection.run("PRAGMA query_only = ON")
        try connection.run("PRAGMA temp_store = MEMORY")
        try connection.requireOwn()
        return connection
    }

    /// A connection that reads a file without changing it.
    private func inspect(_ path: String, _ cancellation: Cancellation) throws -> Connection {
        let connection = Connection(try Handle(path, .inspect, watch: watch(cancellation)))
        try connection.run("PRAGMA cell_size_check = ON")
        return connection
    }

    // MARK: Steps

    private func openSound(_ cancellation: Cancellation?) throws -> Connection {
        try file.make()
        if try file.isCutShort {
            throw StorageError(.damaged, "\(PlainText.escape(path)) is damaged: it is truncated")
        }
        let connection = try connect(.write, cancellation)
        if leavesLog { connection.leaveLog(upTo: 512 << 10) }
        try connection.requireOwn()
        if try file.isToBeChecked {
            let size = try Files.info(path).size
            if size > longLook {
                notice(
                    StorageNotice(
                        message: "damage was found in \(PlainText.escape(path)), so all of its "
                            + "\(ByteCount(Int(size)).words) are checked now; this can take minutes"))
            }
            if let damage = try connection.damage(limit: 1, isQuick: true).first {
                throw StorageError(.damaged, "\(PlainText.escape(path)) is damaged: \(damage)")
            }
            try file.trust()
        }
        try connection.useLog(within: busyLimit)
        try connection.migrate(migrations)
        return connection
    }

    private func connect(_ access: Access, _ cancellation: Cancellation?) throws -> Connection {
        let connection = Connection(try Handle(path, access, watch: watch(cancellation)))
        try connection.run(durability.pragma)
        // Temporary data may be private, and does not belong in a shared folder.
        try connection.run("PRAGMA temp_store = MEMORY")
        try connection.run("PRAGMA cell_size_check = ON")
        // A long transaction makes the log long; afterwards it is cut to this.
        try connection.run("PRAGMA journal_size_limit = 4194304")
        return connection
    }

    private func watch(_ cancellation: Cancellation?) -> Watch {
        let watch = Watch(limit: busyLimit)
        watch.cancellation = cancellation
        return watch
    }

    // MARK: Damage

    /// Checks again under a lock, because another program may have moved the file aside meanwhile.
    private func repair(_ cancellation: Cancellation?) throws -> Connection {
        let lock = try lockRepair(cancellation)
        let reason: String
        do {
            return try openSound(cancellation)
        } catch let error as StorageError where error.kind == .damaged {
            reason = error.message
        }
        let alone = try lockAlone(cancellation, reason)
        let place = try file.setAside(at: .now())
        let connection = try openSound(cancellation)
        _ = consume alone
        lock.release()
        notice(
            StorageNotice(
                message: "\(reason); it was moved to \(PlainText.escape(place)), and an empty one was created",
                setAside: place))
        return connection
    }

    /// Makes sure that no other program has the file open. It would continue to write into the moved file and lose its
    /// data.
    private func lockAlone(_ cancellation: Cancellation?, _ reason: String) throws -> Handle {
        let handle = try Handle(path, .write, watch: watch(cancellation))
        // Other programs that find the damage while opening close it again quickly.
        let deadline = ContinuousClock.now + min(busyLimit, .seconds(1))
        while !handle.lockAlone() {
            if cancellation?.isWanted == true { throw CancellationError() }
            guard ContinuousClock.now < deadline else {
                throw StorageError(
                    .busy, "\(reason); another program has it open; stop that program first, then try again")
            }
            usleep(10_000)
        }
        return handle
    }

    private func lockRepair(_ cancellation: Cancellation?) throws -> FileLock {
        let deadline = ContinuousClock.now + busyLimit
        while ContinuousClock.now < deadline {
            if let lock = try FileLock.tryAcquire("\(path).repair") { return lock }
            if cancellation?.isWanted == true { throw CancellationError() }
            usleep(10_000)
        }
        throw StorageError(.busy, "another program is still moving \(PlainText.escape(path)) aside; try again")
    }

    /// Records damage that the work finds, so that the next start checks the whole file.
    func noting<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StorageError where error.kind == .damaged {
            if !isInMemory { file.suspect() }
            throw error
        }
    }

    /// A connection to an intact copy with known migrations.
    func soundCopy(_ copy: String, _ cancellation: Cancellation) throws -> Connection {
        let name = PlainText.escape(copy)
        do {
            let source = try inspect(copy, cancellation)
            try source.requireOwn()
            // SQLite treats an empty file as a new database, but a copy has at least the tables of the first version.
            guard try source.isMarked() else {
                throw StorageError(.damaged, "the copy \(name) is empty; use an older one")
            }
            _ = try source.requireKnown(migrations)
            if let damage = try source.damage(limit: 1, isQuick: false).first {
                throw StorageError(.damaged, "the copy \(name) is damaged: \(damage); use an older one")
            }
            return source
        } catch let error as StorageError where error.kind == .damaged && error.resultCode != 0 {
            // The message for an active database does not apply to a copy.
            throw StorageError(
                .damaged, "the copy \(name) is damaged and cannot be read; use an older one",
                resultCode: error.resultCode)
        }
    }

    func findings(_ cancellation: Cancellation) throws -> [String] {
        do {
            let connection = try inspect(path, cancellation)
            try connection.requireOwn()
            _ = try connection.requireKnown(migrations)
            let orphans = try connection.all("PRAGMA foreign_key_check") { row in
                "a row of table \(try row[0] as String) points to a missing row of \(try row[2] as String)"
            }
            return (try connection.damage(limit: 20, isQuick: false) + orphans.prefix(20)).map(PlainText.escape)
        } catch let error as StorageError where error.kind == .damaged {
            return [error.message]
        }
    }
}

/// What a finished transaction survives. A killed process loses nothing with either setting.
public enum Durability: Sendable {
    /// A loss of power too: each transaction waits for the disk. For settings, pins, tokens.
    case full
    /// After a loss of power the last transactions may be missing, never half of one. For history and traces.
    case normal

    var pragma: SQL {
        switch self {
        case .full: "PRAGMA synchronous = FULL"
        case .normal: "PRAGMA synchronous = NORMAL"
        }
    }
}

/// Something that a person should know although the work went on.
public struct StorageNotice: Sendable, Hashable {
    /// What happened and where the old data is, in a sentence without a final stop.
    public let message: String
    /// Where the damaged file was put; nil where none was.
    public var setAside: String?

    /// Reports it by `say`, or on standard error without it. The moved data is never a secret.
    public func tell(_ say: ((String) -> Void)?) {
        if let say { return say(message) }
        let line = Array("\(message)\n".utf8)
        // If standard error is closed, the notice is dropped.
        _ = unsafe write(STDERR_FILENO, line, line.count)
    }
}
