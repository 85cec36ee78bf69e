import CSQLite
import CStorageKit
import Capabilities
import Glibc
import Synchronization

/// Owns one `sqlite3`, which is closed after its last statement.
@safe
final class Handle {
    let path: String
    private let isReader: Bool
    let watch: Watch
    let raw: OpaquePointer
    /// Whether the last connection to close moves the log into the file and removes it.
    var movesLogAtEnd = true

    /// Opens an existing file without reading it yet.
    init(_ path: String, _ access: Access, watch: Watch) throws {
        self.path = path
        self.watch = watch
        isReader = access == .read || access == .inspect
        var opened: OpaquePointer?
        let flags = (access == .inspect ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX
        // Debian's SQLite treats a name that starts with "file:" as a URI, which "./" prevents for a relative path.
        let name = access == .memory ? ":memory:" : AbsolutePath.isAbsolute(path) ? path : "./\(path)"
        let code = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_EXRESCODE, nil)
        guard let raw = unsafe opened else {
            throw StorageError(.system, "out of memory while opening \(PlainText.escape(path))", resultCode: code)
        }
        unsafe self.raw = raw
        try check(code)
        unsafe watch.attach(to: raw)
        try setOptions()
    }

    deinit {
        // If this is refused, the log is moved, which is only slower.
        if !movesLogAtEnd { unsafe storage_set_option(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
        unsafe sqlite3_close_v2(raw)
    }

    /// "When the defensive flag is enabled, language features that allow ordinary SQL to deliberately corrupt the
    /// database file are disabled." A file from elsewhere may hold triggers and views; those reach no virtual table and
    /// no function that is not marked as harmless.
    private func setOptions() throws {
        let options = [
            (SQLITE_DBCONFIG_DEFENSIVE, true), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (SQLITE_DBCONFIG_ENABLE_FKEY, true), (SQLITE_DBCONFIG_DQS_DML, false), (SQLITE_DBCONFIG_DQS_DDL, false),
        ]
        for (option, isOn) in options { try check(unsafe storage_set_option(raw, option, isOn ? 1 : 0)) }
    }

    /// Whether no transaction is open.
    var isIdle: Bool { unsafe sqlite3_get_autocommit(raw) != 0 }

    /// Whether another file has the name by now.
    var hasMoved: Bool { unsafe storage_has_moved(raw) != 0 }

    /// Locks the file for this unused connection alone. False when another connection has it open.
    func lockAlone() -> Bool {
        // A file that cannot be locked at all, such as a read-only one, has no writers either.
        unsafe storage_lock_alone(raw) & 0xff != SQLITE_BUSY
    }

    func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw failure(code) }
    }

    /// The error for the code of the last call on this handle.
    func failure(_ code: Int32) -> any Error {
        // SQLite keeps the system's number only for some failures. After a failed commit it is only in errno.
        let number = errno
        let kept = unsafe sqlite3_system_errno(raw)
        let words = unsafe sqlite3_errmsg(raw).map { unsafe String(cString: $0) } ?? "unknown"
        let reply = StorageError.Reply(code: code, words: words, errno: kept != 0 ? kept : number)
        if reply.primary == SQLITE_INTERRUPT { return CancellationError() }
        if watch.isCancelled, reply.primary == SQLITE_BUSY { return CancellationError() }
        return StorageError(reply, path: path, isReader: isReader, waited: watch.limit)
    }
}

/// What a connection may do.
enum Access {
    /// Read and change.
    case write
    /// Read, while others write.
    case read
    /// Read a file that is not in use and must not change.
    case inspect
    /// Fill a new file that no other program knows yet.
    case fill
    /// Read and change a database that is only in memory.
    case memory
}

/// Decides for SQLite whether a statement continues while it runs or waits for a lock.
///
/// `sqlite3_interrupt` would stop any statement that runs at that moment, perhaps the next caller's. This check belongs
/// to one piece of work and cannot affect another. It is used only on the connection's thread.
@safe
final class Watch {
    /// How long a statement waits for the locks of others.
    let limit: Duration
    /// The cancellation of the current work.
    var cancellation: Cancellation?
    /// Ignores the cancellation while a transaction ends, so that it ends as decided.
    private var isDeaf = false
    private var waitsSince = ContinuousClock.now

    init(limit: Duration) {
        self.limit = limit
    }

    var isCancelled: Bool { !isDeaf && cancellation?.isWanted == true }

    /// Ignores the cancellation while `body` runs.
    func undisturbed<T>(_ body: () throws -> T) rethrows -> T {
        let before = isDeaf
        isDeaf = true
        defer { isDeaf = before }
        return try body()
    }

    /// Attaches this watch, which must live as long as the connection.
    func attach(to connection: OpaquePointer) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        // About every 50 µs of work, without measurable cost.
        unsafe sqlite3_progress_handler(
            connection, 2000,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue().isCancelled ? 1 : 0
            }, context)
        unsafe sqlite3_busy_handler(
            connection,
            { context, count in
                guard let context = unsafe context else { return 0 }
                let watch = unsafe Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
                return watch.waits(again: count > 0) ? 1 : 0
            }, context)
    }

    /// Sleeps briefly before the next attempt to lock. False when there is no further attempt.
    func waits(again: Bool) -> Bool {
        if !again { waitsSince = .now }
        let waited = ContinuousClock.now - waitsSince
        guard !isCancelled, waited < limit else { return false }
        // Short at first, because transactions are short, and random, so that waiters do not retry in step.
        let longest = min(max(waited / 4, .microseconds(200)), .milliseconds(20))
        usleep(UInt32.random(in: 100...UInt32(longest / .microseconds(1))))
        return true
    }
}

/// A request to stop one piece of work. The working thread checks it.
final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isWanted: Bool { flag.load(ordering: .relaxed) }

    func want() {
        flag.store(true, ordering: .relaxed)
    }
}
