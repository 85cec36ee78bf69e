import CFileKit
import Capabilities
import Glibc

/// Operations on whole files and directories. All of them block during disk access.
public enum Files {
    /// Reads a regular file of at most `limit` bytes. A directory, FIFO, socket or device is rejected without waiting.
    public static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        // With O_NONBLOCK, opening a FIFO or a terminal returns at once, so that fstat can reject it.
        try read(try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, for: "read"), limit: limit)
    }

    /// Reads an open regular file from its start.
    static func read(_ file: borrowing FileDescriptor, limit: Int) throws(FileError) -> [UInt8] {
        let path = file.path
        let info = try file.status(for: "read")
        try requireRegular(info, "read", path)
        guard info.size <= limit else { throw tooLarge(path, limit: limit) }

        // The size is only a hint: /proc files claim 0, and another program may be appending.
        var bytes = try file.read(upTo: min(Int(info.size), limit) + 1)
        guard !bytes.isEmpty else { return [] }
        // The read returned less than requested, so this is the whole file.
        if bytes.count == Int(info.size) { return bytes }
        while bytes.count <= limit {
            let more = try file.read(upTo: min(limit - bytes.count + 1, 1 << 16))
            if more.isEmpty { return bytes }
            bytes.append(contentsOf: more)
        }
        throw tooLarge(path, limit: limit)
    }

    /// Whether the path exists. A dangling symbolic link counts as missing.
    public static func exists(_ path: String) -> Bool {
        unsafe !path.utf8.contains(0) && access(path, F_OK) == 0
    }

    /// The facts of the path. With `followLinks` false, a symbolic link itself is described.
    public static func info(_ path: String, followLinks: Bool = true) throws(FileError) -> FileInfo {
        try FileError.refuseZero(path, "access")
        var status = stat()
        let flags = followLinks ? 0 : AT_SYMLINK_NOFOLLOW
        guard unsafe fstatat(AT_FDCWD, path, &status, flags) == 0 else {
            throw FileError("access", path, errno: errno)
        }
        return FileInfo(status)
    }

    /// The user's home directory with links resolved. Nil when the environment has none.
    public static func home(in environment: [String: String]) -> String? {
        guard let home = environment["HOME"], !home.isEmpty else { return nil }
        // A missing directory keeps its name.
        do throws(FileError) { return try canonical(home) } catch { return home }
    }

    /// The absolute path with every symbolic link, `.` and `..` resolved. The entry must exist.
    public static func canonical(_ path: String) throws(FileError) -> String {
        try FileError.refuseZero(path, "resolve")
        guard let resolved = unsafe realpath(path, nil) else { throw FileError("resolve", path, errno: errno) }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// The path of an existing or future entry: the canonical path of the nearest existing folder, and the rest.
    public static func place(_ path: String) throws(FileError) -> String {
        var there = AbsolutePath(path)
        var rest: [[UInt8]] = []
        while !exists(there.text), let name = there.names.last {
            rest.insert(name, at: 0)
            there = there.folder
        }
        let folder = try canonical(there.text)
        return rest.reduce(folder) { AbsolutePath.joined(String(decoding: $1, as: UTF8.self), in: $0) }
    }

    static func requireRegular(_ info: FileInfo, _ operation: String, _ path: String) throws(FileError) {
        switch info.kind {
        case .regular: return
        case .directory: throw FileError(operation, path, errno: EISDIR)
        default: throw FileError(.notRegular, operation, path, because: "it is not a regular file")
        }
    }

    private static func tooLarge(_ path: String, limit: Int) -> FileError {
        FileError(.tooLarge, "read", path, because: "it is larger than the limit of \(limit) bytes")
    }
}

extension Files {
    /// Whether this user may write there now. `doctor` checks this.
    public static func isWritable(_ path: String) -> Bool {
        unsafe !path.utf8.contains(0) && access(path, W_OK) == 0
    }

    /// The mark of the file, or nil when there is none. It costs one system call.
    public static func mark(_ path: String) throws(FileError) -> FileMark? {
        try FileError.refuseZero(path, "access")
        var status = stat()
        if unsafe stat(path, &status) == 0 { return FileMark(status) }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw FileError("access", path, errno: errno)
    }
}

extension Files {
    /// One name in a directory.
    public struct Entry: Sendable, Hashable {
        /// The name without its directory.
        public let name: String
        /// The kind of the entry. Symbolic links are not followed.
        public let kind: FileInfo.Kind
    }

    /// The entries of a directory, sorted by name. More than `limit` entries are an error.
    public static func list(_ directory: String, limit: Int = 100_000) throws(FileError) -> [Entry] {
        try FileError.refuseZero(directory, "list")
        guard let stream = unsafe opendir(directory) else { throw FileError("list", directory, errno: errno) }
        defer { unsafe closedir(stream) }
        var entries: [Entry] = []
        while true {
            // readdir distinguishes its end from a failure only by errno.
            errno = 0
            guard let found = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafeBytes(of: &found.pointee.d_name) { field in
                unsafe String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            guard entries.count < limit else {
                throw FileError(.tooLarge, "list", directory, because: "it has more than \(limit) entries")
            }
            let kind = try kind(unsafe found.pointee.d_type, at: "\(directory)/\(name)")
            entries.append(Entry(name: name, kind: kind))
        }
        guard errno == 0 else { throw FileError("list", directory, errno: errno) }
        return entries.sorted { $0.name < $1.name }
    }

    /// Creates the directory and its missing parents with `mode`. An existing directory is not changed.
    public static func makeDirectories(_ path: String, mode: UInt32 = 0o700) throws(FileError) {
        try FileError.refuseZero(path, "create directory")
        if unsafe mkdir(path, mode) == 0 { return }
        var failure = errno
        let parent = PathParts(path).folder
        if failure == ENOENT, parent != path, parent != "." {
            try makeDirectories(parent, mode: mode)
            if unsafe mkdir(path, mode) == 0 { return }
            failure = errno
        }
        // Another program may have created it meanwhile, and EEXIST may also mean a file.
        guard failure == EEXIST else { throw FileError("create directory", path, errno: failure) }
        guard try info(path).kind == .directory else { throw FileError("create directory", path, errno: EEXIST) }
    }

    /// Removes a file, a symbolic link (never what it points to) or an empty directory.
    public static func remove(_ path: String) throws(FileError) {
        try FileError.refuseZero(path, "remove")
        guard unsafe Glibc.remove(path) == 0 else { throw FileError("remove", path, errno: errno) }
    }

    // Not every file system fills in d_type.
    private static func kind(_ type: UInt8, at path: String) throws(FileError) -> FileInfo.Kind {
        switch Int(type) {
        case Int(DT_REG): .regular
        case Int(DT_DIR): .directory
        case Int(DT_LNK): .symbolicLink
        case Int(DT_FIFO): .fifo
        case Int(DT_SOCK): .socket
        case Int(DT_CHR), Int(DT_BLK): .device
        default: try info(path, followLinks: false).kind
        }
    }
}

extension Files {
    /// Renames a file in one step. Throws `.exists` if the new name exists. When this returns, a power loss does not
    /// undo the rename.
    public static func rename(_ path: String, toNew name: String) throws(FileError) {
        try FileError.refuseZero(path, "rename")
        try FileError.refuseZero(name, "rename")
        if unsafe filekit_rename_new(path, name) != 0 {
            guard errno == EINVAL || errno == ENOSYS else { throw FileError("rename", name, errno: errno) }
            // Some file systems do not support this. Linking also creates the second name or fails.
            guard unsafe link(path, name) == 0, unsafe unlink(path) == 0 else {
                throw FileError("rename", name, errno: errno)
            }
        }
        let directory = try FileDescriptor.open(
            PathParts(name).folder, O_RDONLY | O_DIRECTORY, for: "rename", naming: name)
        // Some network file systems cannot sync a directory and say so with EINVAL; the rename has happened anyway.
        if fsync(directory.rawValue) != 0, errno != EINVAL { throw FileError("rename", name, errno: errno) }
    }
}

extension Files {
    /// Replaces the file with `bytes` in one step: a reader, or a crash at any moment, sees the old content or the new.
    ///
    /// Without `mode`, the permissions of an existing file are kept, and a new file is private (0o600). The target of a
    /// symbolic link is replaced, not the link. The content is on the disk when this returns.
    public static func writeAtomically(_ bytes: [UInt8], to path: String, mode: UInt32? = nil) throws(FileError) {
        let write = try AtomicWrite(replacing: path, mode: mode)
        try write.write(bytes.span)
        try write.commit()
    }
}
