import Glibc

extension FileError {
    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: "file.not-found".
        public let description: String

        init(_ description: String) {
            self.description = description
        }

        /// Nothing is at the path.
        public static let notFound = Kind("file.not-found")
        /// The user may not do this.
        public static let denied = Kind("file.denied")
        /// A file was expected, a directory was found.
        public static let isDirectory = Kind("file.is-directory")
        /// A directory was expected, something else was found.
        public static let notDirectory = Kind("file.not-directory")
        /// A FIFO, socket or device, whose content has no end.
        public static let notRegular = Kind("file.not-regular")
        /// Something is at the path already.
        public static let exists = Kind("file.exists")
        /// The device or the quota is full.
        public static let full = Kind("file.full")
        /// The content exceeds the caller's limit or the system's.
        public static let tooLarge = Kind("file.too-large")
        /// The file system is mounted read-only.
        public static let readOnly = Kind("file.read-only")
        /// A symbolic link where none is allowed, or too many of them.
        public static let symlink = Kind("file.symlink")
        /// Somebody else holds the lock.
        public static let busy = Kind("file.busy")
        /// Neither the environment nor the user database names a home directory.
        public static let noHome = Kind("file.no-home")
        /// A path that holds a zero byte.
        public static let invalid = Kind("file.invalid")
        /// Anything else; `errno` tells more.
        public static let other = Kind("file.other")
    }
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
