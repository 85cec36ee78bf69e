import CFileKit
import Glibc

/// A replacement for a file: written beside it under another name, then renamed over it in one step.
///
/// Until `commit` the old file is untouched; a value that goes away uncommitted removes what it wrote.
public struct AtomicWrite: ~Copyable {
    private let directory: FileDescriptor
    private let temporary: TemporaryFile
    private let name: String
    private let path: String
    private let mode: UInt32
    /// The file that is replaced.
    private let existing: FileInfo?
    private var isCommitted = false
    /// The rights beyond the mode, which are kept where no mode is asked for.
    private let accessList: AccessList?

    init(replacing path: String, mode: UInt32?) throws(FileError) {
        try FileError.refuseZero(path, "write")
        let target = PathParts(try Self.followingLinks(path))
        let directory = try FileDescriptor.open(target.directory, O_RDONLY | O_DIRECTORY, for: "write in")
        try self.init(target.name, in: directory, mode: mode, naming: path)
    }

    /// Replaces an entry of a folder that is open, and never what a link there leads to.
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
        // After a commit the next writer may have the name already.
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
        // The file system had it, so that it takes it; the mode holds in any case.
        _ = accessList?.set(on: temporary.file)
        try check(fsync(temporary.file.rawValue))
        try check(unsafe renameat(directory.rawValue, temporary.name, directory.rawValue, name))
        isCommitted = true
        // Some network file systems cannot sync a directory and say so with EINVAL; the rename has happened anyway.
        if fsync(directory.rawValue) != 0, errno != EINVAL { throw FileError("write", path, errno: errno) }
    }

    private borrowing func check(_ result: Int32) throws(FileError) {
        guard result == 0 else { throw FileError("write", path, errno: errno) }
    }

    /// Where the chain of symbolic links at `path` ends, so that a link kept by a dotfile manager survives;
    /// unlike `realpath` this accepts a link whose target does not exist yet.
    private static func followingLinks(_ path: String) throws(FileError) -> String {
        var current = path
        for _ in 0..<40 {
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = unsafe readlink(current, &target, target.count)
            // EINVAL: it is not a link; ENOENT: nothing is there yet. Both end the chain.
            guard length >= 0 else { return current }
            let link = String(decoding: target.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
            current = link.startsAtRoot ? link : "\(PathParts(current).directory)/\(link)"
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
    /// Leaves the file to whom it belonged, as far as this user may: root writes into the files of others.
    private borrowing func keepOwner() {
        guard let existing else { return }
        if fchown(temporary.file.rawValue, existing.owner, existing.group) != 0 {
            // The group alone is enough for those who share a file.
            _ = fchown(temporary.file.rawValue, uid_t.max, existing.group)
        }
    }
}

/// A new file beside the one that it is to replace, locked for as long as somebody works on it.
struct TemporaryFile: ~Copyable {
    let file: FileDescriptor
    let name: String

    /// How many writers of one file may be at work before names are made up at random.
    private static let names = 8

    /// Makes a file beside the target and locks it. The names are few and known, so that what a killed writer left is
    /// met, and removed, by the next one.
    static func make(
        beside name: String, in directory: borrowing FileDescriptor, path: String
    ) throws(FileError) -> TemporaryFile {
        // A name may be as long as the file system allows, which leaves no room for a longer one.
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

    /// Makes the file, unless there is one of that name.
    private static func take(
        _ temporary: String, in directory: borrowing FileDescriptor, path: String
    ) throws(FileError) -> TemporaryFile? {
        // Owner-only until the content is complete, whatever the final mode will be.
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        do throws(FileError) {
            let file = try FileDescriptor.open(
                temporary, flags, mode: 0o600, in: directory.rawValue, for: "write", naming: path)
            // Says that somebody is at work. Whoever took it for a stray before that has removed it by now, or does so
            // while it holds the lock. A file system without locks has no strays removed.
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

    /// Removes a file that nobody works on any more.
    private static func removeStray(_ temporary: String, in directory: borrowing FileDescriptor) {
        do throws(FileError) {
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
            let file = try FileDescriptor.open(temporary, flags, in: directory.rawValue, for: "remove")
            guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0, isNamed(file, temporary, in: directory) else { return }
            _ = unsafe unlinkat(directory.rawValue, temporary, 0)
        } catch {
            // Gone meanwhile, or somebody else's: then another name is taken.
        }
    }

    /// Whether the name still means this file.
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

/// Rights of single users and groups, as the kernel keeps them.
struct AccessList {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// That of a file; nil where it has none beyond its mode, or the file system knows none.
    init?(of path: String) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe filekit_access_list(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        self.bytes = Array(bytes[..<count])
    }

    /// Gives it to a file; false where that cannot have it.
    func set(on file: borrowing FileDescriptor) -> Bool {
        unsafe filekit_set_access_list(file.rawValue, bytes, bytes.count) == 0
    }
}
