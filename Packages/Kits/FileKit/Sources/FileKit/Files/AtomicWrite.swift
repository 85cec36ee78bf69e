import Glibc

/// A replacement for a file: written beside it under another name, then renamed over it in one step.
///
/// Until `commit` the old file is untouched; a value that goes away uncommitted removes what it wrote.
struct AtomicWrite: ~Copyable {
    private let directory: FileDescriptor
    private let temporary: FileDescriptor
    private let temporaryName: String
    private let name: String
    private let path: String
    private let mode: UInt32

    init(replacing path: String, mode: UInt32?) throws(FileError) {
        let target = PathParts(try Self.followingLinks(path))
        let directory = try FileDescriptor.open(target.directory, O_RDONLY | O_DIRECTORY, for: "write in")
        let existing = try Self.existing(target.name, in: directory, path: path)
        let temporaryName = ".~\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp"
        // Owner-only until the content is complete, whatever the final mode will be.
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        temporary = try FileDescriptor.open(
            temporaryName, flags, mode: 0o600, in: directory.rawValue, for: "write", naming: path)
        self.directory = directory
        self.temporaryName = temporaryName
        self.path = path
        name = target.name
        self.mode = mode ?? existing.map { $0.mode & 0o777 } ?? 0o600
    }

    deinit {
        // Fails harmlessly after a commit, when the name is gone already.
        _ = unsafe unlinkat(directory.rawValue, temporaryName, 0)
    }

    borrowing func write(_ bytes: Span<UInt8>) throws(FileError) {
        try temporary.writeAll(bytes)
    }

    /// Makes the new content durable and visible under the target's name.
    consuming func commit() throws(FileError) {
        try check(fchmod(temporary.rawValue, mode))
        try check(fsync(temporary.rawValue))
        try check(unsafe renameat(directory.rawValue, temporaryName, directory.rawValue, name))
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
            current = link.hasPrefix("/") ? link : "\(PathParts(current).directory)/\(link)"
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
