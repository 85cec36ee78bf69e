import CFileKit
import Capabilities
import Glibc

/// Replaces a file: the new content is written to another file beside it, which is then renamed over it.
///
/// The old file is unchanged until `commit`. Without a commit, the new file is removed.
public struct AtomicWrite: ~Copyable {
    private let directory: FileDescriptor
    private let temporary: TemporaryFile
    private let name: String
    private let path: String
    private let mode: UInt32
    /// The file that is replaced.
    private let existing: FileInfo?
    private var isCommitted = false
    /// The access control list, which is kept when no mode is given.
    private let accessList: AccessList?

    init(replacing path: String, mode: UInt32?) throws(FileError) {
        try FileError.refuseZero(path, "write")
        let target = PathParts(try Self.followingLinks(path))
        let directory = try FileDescriptor.open(target.folder, O_RDONLY | O_DIRECTORY, for: "write in")
        try self.init(target.name, in: directory, mode: mode, naming: path)
    }

    /// Replaces an entry of an open folder, without following a link.
    init(
        _ name: String, in directory: consuming FileDescriptor, mode: UInt32?, naming path: String
    ) throws(FileError) {
        try FileError.refuseZero(name, "write")
        let existing = try Self.existing(name, in: directory, path: path)
        temporary = try TemporaryFile.make(beside: name, in: directory, path: path)
        accessList =
            existing != nil && mode == nil ? AccessList(of: "/proc/self/fd/\(directory.rawValue)/\(name)") : nil
        self.directory = directory
        self.path = path
        self.existing = existing
        self.name = name
        self.mode = mode ?? existing.map { $0.mode & 0o777 } ?? 0o600
    }

    deinit {
        // After a commit, the next writer may already use the name.
        if !isCommitted { _ = unsafe unlinkat(directory.rawValue, temporary.name, 0) }
    }

    /// Adds to the new content.
    public borrowing func write(_ bytes: Span<UInt8>) throws(FileError) {
        try temporary.file.writeAll(bytes)
    }

    /// Makes the new content durable and visible under the target's name.
    public consuming func commit() throws(FileError) {
        keepOwner()
        try check(fchmod(temporary.file.rawValue, mode))
        // The file system supports it, because the old file had one. The mode applies in any case.
        _ = accessList?.set(on: temporary.file)
        try check(fsync(temporary.file.rawValue))
        try check(unsafe renameat(directory.rawValue, temporary.name, directory.rawValue, name))
        isCommitted = true
        // A child that is about to start has a copy of the descriptor, which would hold the lock on the new file.
        _ = flock(temporary.file.rawValue, LOCK_UN)
        // Some network file systems cannot sync a directory and return EINVAL. The rename has still happened.
        if fsync(directory.rawValue) != 0, errno != EINVAL { throw FileError("write", path, errno: errno) }
    }

    private borrowing func check(_ result: Int32) throws(FileError) {
        guard result == 0 else { throw FileError("write", path, errno: errno) }
    }

    /// The end of the chain of symbolic links at `path`, so that a link from a dotfile manager is kept. Unlike
    /// `realpath`, this accepts a link whose target does not exist yet.
    private static func followingLinks(_ path: String) throws(FileError) -> String {
        var current = path
        for _ in 0..<40 {
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = unsafe readlink(current, &target, target.count)
            // EINVAL: it is not a link. ENOENT: it does not exist. Both end the chain.
            guard length >= 0 else { return current }
            let link = String(decoding: target.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
            current = AbsolutePath.joined(link, in: PathParts(current).folder)
        }
        throw FileError("write", path, errno: ELOOP)
    }

    private static func existing(
        _ name: String, in directory: borrowing FileDescriptor, path: String
    ) throws(FileError) -> FileInfo? {
        var status = stat()
        guard unsafe fstatat(directory.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw FileError("write", path, errno: errno)
        }
        let info = FileInfo(status)
        try Files.requireRegular(info, "write", path)
        return info
    }
}

// MARK: What is kept of the old file

extension AtomicWrite {
    /// Keeps the owner of the file as far as this user may, because root also writes files of other users.
    private borrowing func keepOwner() {
        guard let existing else { return }
        if fchown(temporary.file.rawValue, existing.owner, existing.group) != 0 {
            // The group alone is enough for users who share a file.
            _ = fchown(temporary.file.rawValue, uid_t.max, existing.group)
        }
    }
}

/// A new file beside the target, locked while it is being written.
struct TemporaryFile: ~Copyable {
    let file: FileDescriptor
    let name: String

    /// The number of concurrent writers of one file with fixed names. Further ones get random names.
    private static let names = 8

    /// Creates a file beside the target and locks it. The names are few and fixed, so that the next writer finds and
    /// removes the file of a killed writer.
    static func make(
        beside name: String, in directory: borrowing FileDescriptor, path: String
    ) throws(FileError) -> TemporaryFile {
        // A name may have the maximum length, which leaves no room for a longer one.
        let stem = name.utf8.count <= 200 ? name : String(name.utf8.reduce(5381) { $0 &* 33 &+ UInt64($1) }, radix: 36)
        for number in 1...names {
            let temporary = ".~\(stem)\(number == 1 ? "" : ".\(number)").tmp"
            if let file = try take(temporary, in: directory, path: path) { return file }
            removeStray(temporary, in: directory)
            if let file = try take(temporary, in: directory, path: path) { return file }
        }
        let temporary = ".~\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp"
        guard let file = try take(temporary, in: directory, path: path) else {
            throw FileError("write", path, errno: EEXIST)
        }
        return file
    }

    /// Creates the file, unless the name exists.
    private static func take(
        _ temporary: String, in directory: borrowing FileDescriptor, path: String
    ) throws(FileError) -> TemporaryFile? {
        // Private until the content is complete, whatever the final mode.
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        do throws(FileError) {
            let file = try FileDescriptor.open(
                temporary, flags, mode: 0o600, in: directory.rawValue, for: "write", naming: path)
            // The lock marks the file as in use. A process that took it for a stray before has removed it by now, or
            // removes it while it holds the lock. On a file system without locks, strays are not removed.
            if retryingInterrupts({ Int(flock(file.rawValue, LOCK_EX)) }) == 0, !isNamed(file, temporary, in: directory)
            {
                return nil
            }
            return TemporaryFile(file: file, name: temporary)
        } catch {
            guard error.kind == .exists else { throw error }
            return nil
        }
    }

    /// Removes the file of a dead writer.
    private static func removeStray(_ temporary: String, in directory: borrowing FileDescriptor) {
        do throws(FileError) {
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
            let file = try FileDescriptor.open(temporary, flags, in: directory.rawValue, for: "remove")
            guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0, isNamed(file, temporary, in: directory) else { return }
            _ = unsafe unlinkat(directory.rawValue, temporary, 0)
        } catch {
            // It is gone or belongs to another user, so another name is used.
        }
    }

    /// Whether the name still leads to this file.
    private static func isNamed(
        _ file: borrowing FileDescriptor, _ temporary: String, in directory: borrowing FileDescriptor
    ) -> Bool {
        var (open, named) = (stat(), stat())
        guard unsafe fstat(file.rawValue, &open) == 0,
            unsafe fstatat(directory.rawValue, temporary, &named, AT_SYMLINK_NOFOLLOW) == 0
        else { return false }
        return open.st_ino == named.st_ino && open.st_dev == named.st_dev
    }
}

/// An access control list, in the kernel's format.
struct AccessList {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The list of a file. Nil when it has none, or the file system does not support it.
    init?(of path: String) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe filekit_access_list(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        self.bytes = Array(bytes[..<count])
    }

    /// Sets it on a file. False when that is not possible.
    func set(on file: borrowing FileDescriptor) -> Bool {
        unsafe filekit_set_access_list(file.rawValue, bytes, bytes.count) == 0
    }
}
