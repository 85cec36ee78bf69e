import Capabilities
import Glibc

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
