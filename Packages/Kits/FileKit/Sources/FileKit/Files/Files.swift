import Capabilities
import Glibc

/// Operations on whole files and directories. All of them block for as long as the disk takes.
public enum Files {
    /// Reads a regular file of at most `limit` bytes; a directory, FIFO, socket or device is refused without waiting.
    public static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        // O_NONBLOCK lets the open of a FIFO or a terminal return at once, so that fstat can refuse it.
        try read(try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, for: "read"), limit: limit)
    }

    /// Reads a regular file that is open, from its beginning.
    static func read(_ file: borrowing FileDescriptor, limit: Int) throws(FileError) -> [UInt8] {
        let path = file.path
        let info = try file.status(for: "read")
        try requireRegular(info, "read", path)
        guard info.size <= limit else { throw tooLarge(path, limit: limit) }

        // The size is only a hint: /proc files claim 0, and another program may be appending.
        var bytes = try file.read(upTo: min(Int(info.size), limit) + 1)
        guard !bytes.isEmpty else { return [] }
        // Less than was asked for, and all that there was.
        if bytes.count == Int(info.size) { return bytes }
        while bytes.count <= limit {
            let more = try file.read(upTo: min(limit - bytes.count + 1, 1 << 16))
            if more.isEmpty { return bytes }
            bytes.append(contentsOf: more)
        }
        throw tooLarge(path, limit: limit)
    }

    /// Whether anything is at the path; a dangling symbolic link counts as nothing.
    public static func exists(_ path: String) -> Bool {
        unsafe !path.utf8.contains(0) && access(path, F_OK) == 0
    }

    /// What is at the path; with `followLinks` false, a symbolic link is described itself.
    public static func info(_ path: String, followLinks: Bool = true) throws(FileError) -> FileInfo {
        try FileError.refuseZero(path, "look at")
        var status = stat()
        let flags = followLinks ? 0 : AT_SYMLINK_NOFOLLOW
        guard unsafe fstatat(AT_FDCWD, path, &status, flags) == 0 else {
            throw FileError("look at", path, errno: errno)
        }
        return FileInfo(status)
    }

    /// The person's home, with the links followed by which it is reached; nil where the environment names none.
    public static func home(in environment: [String: String]) -> String? {
        guard let home = environment["HOME"], !home.isEmpty else { return nil }
        // One that is not there is what it is called.
        do throws(FileError) { return try canonical(home) } catch { return home }
    }

    /// The absolute path with every symbolic link, `.` and `..` resolved; the entry has to exist.
    public static func canonical(_ path: String) throws(FileError) -> String {
        try FileError.refuseZero(path, "resolve")
        guard let resolved = unsafe realpath(path, nil) else { throw FileError("resolve", path, errno: errno) }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// Where something is, or is going to be: the canonical path of the nearest folder that is there, and the rest.
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
