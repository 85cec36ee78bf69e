import CSQLite
import Capabilities
import Glibc

extension StorageError {
    /// What SQLite said about one failure, taken before anything else touches its connection.
    struct Reply {
        let code: Int32
        let words: String
        let errno: Int32

        var primary: Int32 { code & 0xff }
    }

    /// The sentence for a failure of SQLite.
    init(_ reply: Reply, path: String, isReader: Bool, waited: Duration) {
        let (kind, message) = Self.explain(reply, PlainText.escape(path), isReader: isReader, waited: waited)
        self.init(kind, message, resultCode: reply.code)
    }

    private static func explain(
        _ reply: Reply, _ path: String, isReader: Bool, waited: Duration
    ) -> (Kind, String) {
        let words = PlainText.escape(reply.words)
        // SQLite keeps the system's number only for these two; for others it may be an old one.
        let errno = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(reply.primary) ? reply.errno : 0
        let reason = errno == 0 ? words : "\(words), \(system(errno))"
        switch (reply.primary, errno) {
        case (SQLITE_FULL, _), (_, ENOSPC), (_, EDQUOT), (_, EFBIG):
            return (.full, "there is no space left for \(path); free some and try again, what was stored is safe")
        case (_, EROFS), (_, EACCES), (_, EPERM):
            return (.readOnly, "cannot use \(path): \(reason); check its permissions and its disk")
        case (SQLITE_BUSY, _), (SQLITE_LOCKED, _), (SQLITE_PROTOCOL, _):
            return (.busy, "somebody else has kept \(path) locked for \(waited.words); try again when they are done")
        case (SQLITE_CORRUPT, _), (SQLITE_NOTADB, _):
            return (.damaged, "\(path) is damaged: \(words); the next start sets it aside and keeps it")
        case (SQLITE_READONLY, _) where isReader:
            return (.readOnly, "\(path) was opened for reading, so nothing can be changed through this connection")
        case (SQLITE_READONLY, _):
            return (.readOnly, "\(path) cannot be changed: \(words); check its permissions and its disk")
        case (SQLITE_CANTOPEN, _), (SQLITE_PERM, _), (SQLITE_AUTH, _):
            return (.open, "cannot open \(path): \(reason)")
        case (SQLITE_CONSTRAINT, _): return (.constraint, "\(path) cannot hold that: \(words)")
        case (SQLITE_MISMATCH, _), (SQLITE_RANGE, _): return (.mismatch, "a value does not fit into \(path): \(words)")
        case (SQLITE_TOOBIG, _): return (.tooLarge, "that is more than one row of \(path) can hold; store less at once")
        case (SQLITE_IOERR, _), (SQLITE_NOMEM, _): return (.system, "cannot read or write \(path): \(reason)")
        default: return (.statement, "a statement on \(path) failed: \(words)")
        }
    }

    private static func system(_ number: Int32) -> String {
        // strerror is safe here: glibc keeps its text in thread-local storage.
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "system error \(number)"
    }

    static func closed(_ path: String) -> StorageError {
        StorageError(.closed, "\(PlainText.escape(path)) was closed; open it again")
    }
}
