public import Capabilities
import Glibc

/// Why something in a workspace cannot be used.
///
/// Only `.gone` is thrown by tools; all else becomes a result that the model can act on.
public struct WorkspaceError: Failure, Hashable {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// What happened and what to do next, in a sentence without a final stop.
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
        /// The path leads out of the folder.
        public static let outside = Kind("workspace.outside")
        /// Nothing is at the path.
        public static let notFound = Kind("workspace.not-found")
        /// The user may not read or write it.
        public static let denied = Kind("workspace.denied")
        /// A file was expected, something else is there.
        public static let notFile = Kind("workspace.not-file")
        /// A folder was expected, something else is there.
        public static let notFolder = Kind("workspace.not-folder")
        /// The input of a tool is not what its schema says.
        public static let input = Kind("workspace.input")
        /// A pattern cannot be understood, or takes too long to match.
        public static let pattern = Kind("workspace.pattern")
        /// A patch cannot be read, or does not fit the file.
        public static let patch = Kind("workspace.patch")
        /// A text to be replaced is not there, or stands at several places.
        public static let edit = Kind("workspace.edit")
        /// A file was changed by somebody else since it was read.
        public static let changed = Kind("workspace.changed")
        /// A command cannot be run as the settings ask for.
        public static let shell = Kind("workspace.shell")
        /// The system refused in another way.
        public static let system = Kind("workspace.system")
    }
}

extension WorkspaceError {
    /// What an error number means for a path that was looked up in a workspace.
    init(_ number: Int32, _ path: EntryPath) {
        let shown = path.shown
        switch number {
        case EXDEV where path.isAbsolute:
            self.init(.outside, "\(shown) is an absolute path; give one that is relative to the working folder")
        case EXDEV:
            self.init(.outside, "\(shown) leads out of the working folder; use a path that stays inside")
        case ENOENT:
            self.init(.notFound, "there is no \(shown)")
        case ELOOP:
            self.init(.outside, "\(shown) passes a link that cannot be followed; give the path of its target")
        case EACCES, EPERM:
            self.init(.denied, "\(shown) cannot be read: permission denied")
        case ENOTDIR:
            self.init(.notFolder, "\(shown) or a part of it is not a folder; list the folder above it with ls")
        case EISDIR:
            self.init(.notFile, "\(shown) is a folder; list it with ls")
        case ENXIO:
            self.init(.notFile, "\(shown) is not a regular file; only those can be read")
        case EAGAIN:
            self.init(.system, "\(shown) is being renamed again and again; try once more")
        default:
            // strerror is safe here: glibc keeps its text in thread-local storage.
            let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "system error \(number)"
            self.init(.system, "\(shown) cannot be used: \(reason)")
        }
    }

    /// What an error number means for a file that was to be written.
    init(writing path: EntryPath, _ number: Int32) {
        switch number {
        case EACCES, EPERM:
            self.init(.denied, "\(path.shown) cannot be written: permission denied")
        case EROFS:
            self.init(.denied, "\(path.shown) cannot be written: the file system is read-only")
        case ENOSPC, EDQUOT:
            self.init(.system, "\(path.shown) cannot be written: there is no space left; free some and try again")
        case EFBIG:
            self.init(.system, "\(path.shown) cannot be written: it would be larger than the system allows")
        default: self.init(number, path)
        }
    }
}
