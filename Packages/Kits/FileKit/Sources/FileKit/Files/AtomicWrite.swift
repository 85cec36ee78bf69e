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
