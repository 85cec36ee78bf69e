import FileKit
import Glibc

/// An empty placeholder for a name that commands must not create. bubblewrap can make only existing paths read-only.
///
/// Several commands, even of several processes, may hold the same stub. Each has a shared lock on it, which ends with
/// its process. A holder that gets the exclusive lock removes the stub. So a stub that a killed process left behind is
/// removed by the next holder. Stubs are recognised by their modification time, so files of others are never removed.
final class Stub: Sendable {
    enum Form {
        case folder
        case file(String)
    }

    /// The modification time of all stubs. Creating something in one changes it.
    private static let time = timespec(tv_sec: 271_828_182, tv_nsec: 0)

    private static let quickAttempts = 100
    /// After the quick attempts there is a pause of so many microseconds before each, for three seconds in all.
    private static let pause: UInt32 = 1_000
    private static let mostAttempts = 3_100

    private let folder: Folder
    private let name: String
    private let isFolder: Bool
    private let descriptor: FileDescriptor

    /// Nil if the stub cannot be created because the folder belongs to another user or is on a read-only disk. A
    /// command cannot create it then either.
    init?(_ name: String, _ form: Form, in folder: Folder) throws(SandboxError) {
        (self.folder, self.name) = (folder, name)
        if case .folder = form { isFolder = true } else { isFolder = false }
        // Another holder may remove the stub between any two of these calls.
        for attempt in 0..<Self.mostAttempts {
            // One that is about to remove it may have to wait for a processor.
            if attempt >= Self.quickAttempts { usleep(Self.pause) }
            let opened = unsafe openat(
                folder.descriptor.rawValue, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            if opened < 0 {
                // Anything else that cannot be opened, such as a link, is reported by the caller's check.
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
            .folder, "cannot run commands here: cannot reserve the name \(name), which other programs obey")
    }

    private static func isOthers(_ folder: Int32, _ number: Int32) -> Bool {
        var status = stat()
        if number == EROFS { return true }
        return unsafe [EACCES, EPERM].contains(number) && fstat(folder, &status) == 0 && status.st_uid != geteuid()
    }

    deinit {
        let (own, above) = (descriptor.rawValue, folder.descriptor.rawValue)
        // A child that is about to start has a copy of the descriptor, which also holds the lock.
        defer { _ = flock(own, LOCK_UN) }
        guard flock(own, LOCK_EX | LOCK_NB) == 0, Self.isThere(name, own, in: above), isOurs else { return }
        // A folder that is no longer empty stays.
        _ = unsafe unlinkat(above, name, isFolder ? AT_REMOVEDIR : 0)
    }

    private var isOurs: Bool {
        var status = stat()
        guard unsafe fstat(descriptor.rawValue, &status) == 0 else { return false }
        return status.st_mtim.tv_sec == Self.time.tv_sec && status.st_mtim.tv_nsec == Self.time.tv_nsec
    }

    /// Whether the name still refers to the open file.
    private static func isThere(_ name: String, _ opened: Int32, in folder: Int32) -> Bool {
        var (own, named) = (stat(), stat())
        return unsafe fstat(opened, &own) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
            && own.st_dev == named.st_dev && own.st_ino == named.st_ino
    }

    /// False if the name cannot be created.
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
