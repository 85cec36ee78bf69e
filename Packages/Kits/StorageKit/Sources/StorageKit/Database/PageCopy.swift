import CSQLite
import Capabilities
import Glibc

/// Copies all pages of one database over those of another, a few at a time.
@safe
struct PageCopy: ~Copyable {
    private let source: Handle
    private let destination: Handle
    private let raw: OpaquePointer

    init(from source: Handle, to destination: Handle) throws {
        guard let raw = unsafe sqlite3_backup_init(destination.raw, "main", source.raw, "main") else {
            throw destination.failure(unsafe sqlite3_extended_errcode(destination.raw))
        }
        self.source = source
        self.destination = destination
        unsafe self.raw = raw
    }

    deinit { unsafe sqlite3_backup_finish(raw) }

    /// Copies everything. The destination does not change until the end, and an error or cancellation leaves it
    /// unchanged.
    ///
    /// For a million pages of 4 KiB, this checks about 4,000 times whether to continue.
    borrowing func run(_ cancellation: Cancellation, progress: (Int, Int) -> Void) throws {
        let deadline = ContinuousClock.now + destination.watch.limit
        while true {
            if cancellation.isWanted { throw CancellationError() }
            let code = unsafe sqlite3_backup_step(raw, 256)
            let total = Int(unsafe sqlite3_backup_pagecount(raw))
            progress(total - Int(unsafe sqlite3_backup_remaining(raw)), total)
            switch code & 0xff {
            case SQLITE_OK: continue
            case SQLITE_DONE: return
            case SQLITE_BUSY, SQLITE_LOCKED:
                guard ContinuousClock.now < deadline else { throw destination.failure(code) }
                usleep(5000)
            default: throw failure(code)
            }
        }
    }

    /// The error belongs to the side that failed, which only its own message shows.
    private borrowing func failure(_ code: Int32) -> any Error {
        let isOfSource = unsafe sqlite3_extended_errcode(source.raw) == code
        return isOfSource ? source.failure(code) : destination.failure(code)
    }
}
