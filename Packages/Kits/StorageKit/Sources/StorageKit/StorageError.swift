import CSQLite
public import Capabilities
import Glibc

/// Why a database could not be opened, read or changed.
///
/// A statement that was interrupted because its task was cancelled throws `CancellationError` instead.
public struct StorageError: Failure, Hashable {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// What happened and what to do next.
    public let message: String
    /// The extended result code of SQLite, or 0 for an error of this package.
    public let resultCode: Int32

    public var code: String { kind.description }

    init(_ kind: Kind, _ message: String, resultCode: Int32 = 0) {
        self.kind = kind
        self.message = message
        self.resultCode = resultCode
    }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<StorageError>
}

/// The reasons of a `StorageError`.
extension FailureKind<StorageError> {
    /// The file cannot be opened or made.
    public static var open: Self { "storage.open" }
    /// Another connection kept the lock for longer than the limit, or too many callers already wait.
    public static var busy: Self { "storage.busy" }
    /// The disk, the quota or the limit of file sizes is reached.
    public static var full: Self { "storage.full" }
    /// The file is not a database, or its content is inconsistent.
    public static var damaged: Self { "storage.damaged" }
    /// A newer version of the program has changed the tables.
    public static var newer: Self { "storage.newer" }
    /// The file is a database of another program.
    public static var foreign: Self { "storage.foreign" }
    /// The tables were made by migrations that are not the ones known here.
    public static var changed: Self { "storage.changed" }
    /// The file, its file system or the kind of access forbids writing.
    public static var readOnly: Self { "storage.read-only" }
    /// A rule of the tables forbids the value.
    public static var constraint: Self { "storage.constraint" }
    /// A value, a row or a statement is larger than SQLite takes.
    public static var tooLarge: Self { "storage.too-large" }
    /// A value is not of the type that was asked for, or there are more or fewer of them than places.
    public static var mismatch: Self { "storage.mismatch" }
    /// SQLite does not understand the statement, or it cannot be run now.
    public static var statement: Self { "storage.statement" }
    /// The system could not read or write.
    public static var system: Self { "storage.system" }
    /// It was closed before.
    public static var closed: Self { "storage.closed" }
}

extension StorageError {
    /// SQLite's report of one failure, read before the connection is used again.
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
        let reason = errno == 0 ? words : "\(words), \(SystemError(errno))"
        switch (reply.primary, errno) {
        case (SQLITE_FULL, _), (_, ENOSPC), (_, EDQUOT), (_, EFBIG):
            return (.full, "no space left for \(path); free some space and try again; the stored data is safe")
        case (_, EROFS), (_, EACCES), (_, EPERM):
            return (.readOnly, "cannot use \(path): \(reason); check its permissions and its disk")
        case (SQLITE_BUSY, _), (SQLITE_LOCKED, _), (SQLITE_PROTOCOL, _):
            return (.busy, "another connection has kept \(path) locked for \(waited.words); try again when it is done")
        case (SQLITE_CORRUPT, _), (SQLITE_NOTADB, _):
            return (.damaged, "\(path) is damaged: \(words); the next start moves it aside and keeps it")
        case (SQLITE_READONLY, _) where isReader:
            return (.readOnly, "\(path) was opened for reading, so this connection cannot change it")
        case (SQLITE_READONLY, _):
            return (.readOnly, "\(path) cannot be changed: \(words); check its permissions and its disk")
        case (SQLITE_CANTOPEN, _), (SQLITE_PERM, _), (SQLITE_AUTH, _):
            return (.open, "cannot open \(path): \(reason)")
        case (SQLITE_CONSTRAINT, _): return (.constraint, "\(path) cannot store this: \(words)")
        case (SQLITE_MISMATCH, _), (SQLITE_RANGE, _): return (.mismatch, "a value does not fit into \(path): \(words)")
        case (SQLITE_TOOBIG, _): return (.tooLarge, "the value is too large for a row of \(path); store less at once")
        case (SQLITE_IOERR, _), (SQLITE_NOMEM, _): return (.system, "cannot read or write \(path): \(reason)")
        default: return (.statement, "a statement on \(path) failed: \(words)")
        }
    }

    static func closed(_ path: String) -> StorageError {
        StorageError(.closed, "\(PlainText.escape(path)) was closed; open it again")
    }

    /// The log needs shared memory, which some network file systems do not support.
    static func sharesNoMemory(_ path: String) -> StorageError {
        StorageError(
            .open, "the file system does not support shared memory, so \(PlainText.escape(path)) cannot be used there")
    }
}
