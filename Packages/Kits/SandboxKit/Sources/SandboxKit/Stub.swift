import FileKit
import Glibc

/// Something empty that takes a name in a folder for as long as commands run that must not make it: bubblewrap can make
/// read-only only what is there.
///
/// Several commands, of several processes, may hold the same one. Each has a shared lock on it, which ends with its
/// process, and who can have the lock alone removes it. So the next to hold and release it removes what one that was killed
/// has left behind. What somebody else has made is told by its time, and is never removed.
final class Stub: Sendable {
    enum Form {
        case folder
        case file(String)
    }

    /// When all of them were changed last. Whoever makes something in one of them changes that.
    private static let time = timespec(tv_sec: 271_828_182, tv_nsec: 0)

    private let folder: Folder
    private let name: String
    private let isFolder: Bool
    private let descriptor: FileDescriptor

    /// Nil where it cannot be made because the folder is somebody else's, or on a disk that is read-only, which holds for a
    /// command too.
    init?(_ name: String, _ form: Form, in folder: Folder) throws(SandboxError) {
        (self.folder, self.name) = (folder, name)
        if case .folder = form { isFolder = true } else { isFolder = false }
        // Another process may remove it between each two of these calls.
        for _ in 0..<100 {
            let opened = unsafe openat(
                folder.descriptor.rawValue, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            if opened < 0 {
                // Something else that nobody can open, such as a link, is told of by who looks what it is.
                guard errno == ENOENT else { return nil }
                if Self.make(name, form, in: folder.descriptor.rawValue) { continue }
                if Self.isOthers(folder.descriptor.rawValue, errno) { return nil }
                break
            }
            let descriptor = FileDescriptor(owning: opened, path: name)
            if flock(opened, LOCK_SH | LOCK_NB) == 0, Self.isThere(name, opened, in: folder.descriptor.rawValue) {
                self.descriptor = descriptor
                return
            }
        }
        throw SandboxError(
            .folder, "commands are not run here: the name \(name) cannot be kept free, which other programs obey")
    }

    private static func isOthers(_ folder: Int32, _ number: Int32) -> Bool {
        var status = stat()
        if number == EROFS { return true }
        return unsafe [EACCES, EPERM].contains(number) && fstat(folder, &status) == 0 && status.st_uid != geteuid()
    }

    deinit {
        let (own, above) = (descriptor.rawValue, folder.descriptor.rawValue)
        // A child that is about to start has a copy of the descriptor, which holds the lock as well.
        defer { _ = flock(own, LOCK_UN) }
        guard flock(own, LOCK_EX | LOCK_NB) == 0, Self.isThere(name, own, in: above), isOurs else { return }
        // A folder in which something has been made meanwhile stays.
        _ = unsafe unlinkat(above, name, isFolder ? AT_REMOVEDIR : 0)
    }

    private var isOurs: Bool {
        var status = stat()
        guard unsafe fstat(descriptor.rawValue, &status) == 0 else { return false }
        return status.st_mtim.tv_sec == Self.time.tv_sec && status.st_mtim.tv_nsec == Self.time.tv_nsec
    }

    /// Whether the name still is that of what is open.
    private static func isThere(_ name: String, _ opened: Int32, in folder: Int32) -> Bool {
        var (own, named) = (stat(), stat())
        return unsafe fstat(opened, &own) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
            && own.st_dev == named.st_dev && own.st_ino == named.st_ino
    }

    /// False where it can be made by nobody.
    private static func make(_ name: String, _ form: Form, in folder: Int32) -> Bool {
        let made: Int32
        switch form {
        case .folder:
            guard unsafe mkdirat(folder, name, 0o700) == 0 else { return errno == EEXIST }
            made = unsafe openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        case .file(let text):
            made = unsafe openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o400)
            guard made >= 0 else { return errno == EEXIST }
            _ = unsafe write(made, text, text.utf8.count)
        }
        if made >= 0 {
            _ = unsafe futimens(made, [time, time])
            close(made)
        }
        return true
    }
}
