import CSQLite
import CStorageKit
import Capabilities
import Glibc

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
