import CSQLite
import CStorageKit
import Capabilities
import Glibc
import Synchronization

/// Owns one `sqlite3`, which is closed when the last statement on it has gone as well.
@safe
final class Handle {
    let path: String
    let isReader: Bool
    let watch: Watch
    let raw: OpaquePointer
    /// Whether the last connection to close moves the log into the file and removes it.
    var movesLogAtEnd = true

    /// Opens an existing file; nothing of it has been read when this returns.
    init(_ path: String, _ access: Access, watch: Watch) throws {
        self.path = path
        self.watch = watch
        isReader = access == .read || access == .inspect
        var opened: OpaquePointer?
        let flags = (access == .inspect ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX
        // Debian's SQLite takes a name that begins with "file:" for a URI, and a relative one cannot begin with "./".
        let name = access == .memory ? ":memory:" : path.hasPrefix("/") ? path : "./\(path)"
        let code = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_EXRESCODE, nil)
        guard let raw = unsafe opened else {
            throw StorageError(.system, "there is no memory to open \(PlainText.escape(path))", resultCode: code)
        }
        unsafe self.raw = raw
        try check(code)
        unsafe watch.attach(to: raw)
        try setOptions()
    }

    deinit {
        // Were it refused, the log would be moved, which is only slower.
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

    /// Locks the file for this connection alone, which has not used it yet; false where somebody has it open.
    func lockAlone() -> Bool {
        // What cannot be locked at all, as a file that may not be written, has no writers either.
        unsafe storage_lock_alone(raw) & 0xff != SQLITE_BUSY
    }

    func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw failure(code) }
    }

    /// The error for a code that the last call on this handle gave.
    func failure(_ code: Int32) -> any Error {
        // SQLite keeps the system's number for some failures only; what a failing commit leaves is in errno alone.
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
    /// Look at a file that is not in use and must stay as it is.
    case inspect
    /// Fill a new file that nobody else knows yet.
    case fill
    /// Read and change a database that is only in memory.
    case memory
}

/// What SQLite asks while a statement runs or waits for a lock: whether to go on.
///
/// `sqlite3_interrupt` would stop whatever runs at that moment, perhaps the statement of the next caller. A question
/// that each piece of work answers for itself cannot hit another one. It is used on the connection's thread only.
@safe
final class Watch {
    /// How long a statement waits for the locks of others.
    let limit: Duration
    /// Who may stop the work that is being done.
    var cancellation: Cancellation?
    /// While a transaction ends nothing stops it, so that it ends the way it was decided.
    var isDeaf = false
    private var waitsSince = ContinuousClock.now

    init(limit: Duration) {
        self.limit = limit
    }

    var isCancelled: Bool { !isDeaf && cancellation?.isWanted == true }

    /// A deaf watch for the length of `body`.
    func undisturbed<T>(_ body: () throws -> T) rethrows -> T {
        let before = isDeaf
        isDeaf = true
        defer { isDeaf = before }
        return try body()
    }

    /// Asks this watch from now on; it has to live as long as the connection.
    func attach(to connection: OpaquePointer) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        // About every 50 µs of work; asking costs nothing that could be measured.
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

    /// Sleeps a little before the next try for a lock; false when there is to be no other try.
    func waits(again: Bool) -> Bool {
        if !again { waitsSince = .now }
        let waited = ContinuousClock.now - waitsSince
        guard !isCancelled, waited < limit else { return false }
        // Short at first, for transactions are short, and of random length, so that waiters do not march in step.
        let longest = min(max(waited / 4, .microseconds(200)), .milliseconds(20))
        usleep(UInt32.random(in: 100...UInt32(longest / .microseconds(1))))
        return true
    }
}

/// A wish to stop one piece of work, which the thread that does the work looks at.
final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isWanted: Bool { flag.load(ordering: .relaxed) }

    func want() {
        flag.store(true, ordering: .relaxed)
    }
}
