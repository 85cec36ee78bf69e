public import Capabilities
import Glibc

/// Why a file operation failed: the operation, the path and the reason.
public struct FileError: Failure {
    /// The stable reason, to compare with `==`.
    public let kind: Kind
    /// The operation as a verb: "read", "write", "list".
    public let operation: String
    /// The path as the caller gave it.
    public let path: String
    /// The system's error number, or 0 for an error of this package.
    public let errno: Int32
    /// The reason alone, for texts that already name the operation and the path: "permission denied".
    public let reason: String

    /// The whole message: "cannot read /x/config.json: permission denied".
    public var message: String { "cannot \(operation) \(path): \(reason)" }

    public var code: String { kind.description }

    init(_ kind: Kind, _ operation: String, _ path: String, errno: Int32 = 0, because reason: String) {
        self.kind = kind
        self.operation = operation
        self.path = path
        self.errno = errno
        self.reason = reason
    }

    init(_ operation: String, _ path: String, errno number: Int32) {
        let kind = Kind(errno: number)
        self.init(kind, operation, path, errno: number, because: Self.reason(number))
    }

    /// Rejects a path with a zero byte, because the system would read only the part before it.
    static func refuseZero(_ path: String, _ operation: String) throws(FileError) {
        guard path.utf8.contains(0) else { return }
        let shown = String(path.unicodeScalars.prefix { $0 != "\0" })
        throw FileError(.invalid, operation, "\(shown)…", because: "a path cannot contain a zero byte")
    }

    private static func reason(_ number: Int32) -> String {
        switch number {
        case ENOENT: "no such file or directory"
        case EACCES, EPERM: "permission denied"
        case EISDIR: "it is a directory"
        case ENOTDIR: "part of the path is not a directory"
        case EEXIST: "it already exists"
        case ENOTEMPTY: "the directory is not empty"
        case ENOSPC: "no space left on the device"
        case EDQUOT: "the disk quota is exceeded"
        case EFBIG: "the file would exceed the system's size limit"
        case EROFS: "the file system is read-only"
        case ELOOP: "too many symbolic links, or a symbolic link that is not allowed"
        case ENAMETOOLONG: "the name is too long"
        default: SystemError(number).description
        }
    }
}

extension FileError {
    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<FileError>
}

/// The reasons of a `FileError`.
extension FailureKind<FileError> {
    /// Nothing is at the path.
    public static var notFound: Self { "file.not-found" }
    /// The user may not do this.
    public static var denied: Self { "file.denied" }
    /// A file was expected, a directory was found.
    public static var isDirectory: Self { "file.is-directory" }
    /// A directory was expected, something else was found.
    public static var notDirectory: Self { "file.not-directory" }
    /// A FIFO, socket or device, whose content has no end.
    public static var notRegular: Self { "file.not-regular" }
    /// Something already exists at the path.
    public static var exists: Self { "file.exists" }
    /// The device or the quota is full.
    public static var full: Self { "file.full" }
    /// The content exceeds the caller's limit or the system's.
    public static var tooLarge: Self { "file.too-large" }
    /// The file system is mounted read-only.
    public static var readOnly: Self { "file.read-only" }
    /// A symbolic link where none is allowed, or too many of them.
    public static var symlink: Self { "file.symlink" }
    /// Another program holds the lock.
    public static var busy: Self { "file.busy" }
    /// Neither the environment nor the user database names a home directory.
    public static var noHome: Self { "file.no-home" }
    /// A path that holds a zero byte.
    public static var invalid: Self { "file.invalid" }
    /// Any other error; see `errno`.
    public static var other: Self { "file.other" }
}

extension FileError.Kind {
    init(errno: Int32) {
        self =
            switch errno {
            case ENOENT: .notFound
            case EACCES, EPERM: .denied
            case EISDIR: .isDirectory
            case ENOTDIR: .notDirectory
            case EEXIST: .exists
            case ENOSPC, EDQUOT: .full
            case EFBIG: .tooLarge
            case EROFS: .readOnly
            case ELOOP: .symlink
            default: .other
            }
    }
}
