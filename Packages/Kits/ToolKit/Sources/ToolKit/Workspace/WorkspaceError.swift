public import Capabilities
import Glibc

/// Why something in a workspace cannot be used.
///
/// Tools throw only `.gone`. Everything else becomes a result that the model can act on.
public struct WorkspaceError: Failure, Hashable {
    /// The stable reason; compare it with `==`.
    public let kind: Kind
    /// What happened and what to do next, without a final stop.
    public let message: String

    public var code: String { kind.description }

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: "workspace.outside".
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The folder itself was removed.
        public static let gone = Kind("workspace.gone")
        /// The path leads outside of the folder.
        public static let outside = Kind("workspace.outside")
        /// The path does not exist.
        public static let notFound = Kind("workspace.not-found")
        /// Reading or writing is not permitted.
        public static let denied = Kind("workspace.denied")
        /// The path is not a file.
        public static let notFile = Kind("workspace.not-file")
        /// The path is not a folder.
        public static let notFolder = Kind("workspace.not-folder")
        /// The input of a tool does not match its schema.
        public static let input = Kind("workspace.input")
        /// A pattern is invalid, or takes too long to match.
        public static let pattern = Kind("workspace.pattern")
        /// A patch is invalid, or does not fit the file.
        public static let patch = Kind("workspace.patch")
        /// A text to replace does not occur, or occurs several times.
        public static let edit = Kind("workspace.edit")
        /// A file was changed by another program after it was read.
        public static let changed = Kind("workspace.changed")
        /// A command cannot run as the settings require.
        public static let shell = Kind("workspace.shell")
        /// Another system error.
        public static let system = Kind("workspace.system")
    }
}

extension WorkspaceError {
    /// The meaning of an error number for a path in a workspace.
    init(_ number: Int32, _ path: EntryPath) {
        let shown = path.shown
        switch number {
        case EXDEV where path.isAbsolute:
            self.init(.outside, "\(shown) is an absolute path; use a path relative to the working folder")
        case EXDEV:
            self.init(.outside, "\(shown) leads outside of the working folder; use a path that stays inside")
        case ENOENT:
            self.init(.notFound, "\(shown) does not exist")
        case ELOOP:
            self.init(.outside, "\(shown) contains a link that cannot be followed; use the path of its target")
        case EACCES, EPERM:
            self.init(.denied, "cannot read \(shown): permission denied")
        case ENOTDIR:
            self.init(.notFolder, "\(shown), or a part of it, is not a folder; use ls to list the folder above it")
        case EISDIR:
            self.init(.notFile, "\(shown) is a folder; use ls to list it")
        case ENXIO:
            self.init(.notFile, "\(shown) is not a regular file")
        case EAGAIN:
            self.init(.system, "\(shown) is being renamed repeatedly; try again")
        default:
            // strerror is safe here: glibc keeps its text in thread-local storage.
            let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "system error \(number)"
            self.init(.system, "cannot use \(shown): \(reason)")
        }
    }

    /// The meaning of an error number for writing a file.
    init(writing path: EntryPath, _ number: Int32) {
        switch number {
        case EACCES, EPERM:
            self.init(.denied, "cannot write \(path.shown): permission denied")
        case EROFS:
            self.init(.denied, "cannot write \(path.shown): the file system is read-only")
        case ENOSPC, EDQUOT:
            self.init(.system, "cannot write \(path.shown): no space left on the disk; free some and try again")
        case EFBIG:
            self.init(.system, "cannot write \(path.shown): the file would exceed the system's size limit")
        default: self.init(number, path)
        }
    }
}
