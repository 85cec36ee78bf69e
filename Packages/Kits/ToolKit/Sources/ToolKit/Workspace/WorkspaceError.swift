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
    public typealias Kind = FailureKind<WorkspaceError>
}

/// The reasons of a `WorkspaceError`.
extension FailureKind<WorkspaceError> {
    /// The folder itself was removed.
    public static var gone: Self { "workspace.gone" }
    /// The path leads outside of the folder.
    public static var outside: Self { "workspace.outside" }
    /// The path does not exist.
    public static var notFound: Self { "workspace.not-found" }
    /// Reading or writing is not permitted.
    public static var denied: Self { "workspace.denied" }
    /// The path is not a file.
    public static var notFile: Self { "workspace.not-file" }
    /// The path is not a folder.
    public static var notFolder: Self { "workspace.not-folder" }
    /// The input of a tool does not match its schema.
    public static var input: Self { "workspace.input" }
    /// A pattern is invalid, or takes too long to match.
    public static var pattern: Self { "workspace.pattern" }
    /// A patch is invalid, or does not fit the file.
    public static var patch: Self { "workspace.patch" }
    /// A text to replace does not occur, or occurs several times.
    public static var edit: Self { "workspace.edit" }
    /// A file was changed by another program after it was read.
    public static var changed: Self { "workspace.changed" }
    /// A command cannot run as the settings require.
    public static var shell: Self { "workspace.shell" }
    /// Another system error.
    public static var system: Self { "workspace.system" }
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
            self.init(.system, "cannot use \(shown): \(SystemError(number))")
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

    init(denied path: EntryPath, isWriting: Bool = false) {
        self.init(
            .denied,
            "a rule of the user does not allow \(isWriting ? "writing" : "reading") \(path.shown)")
    }
}
