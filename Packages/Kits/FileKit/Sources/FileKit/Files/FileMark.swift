import Glibc

/// What changes whenever a file does, also when another one takes its place.
public struct FileMark: Sendable, Hashable {
    /// The mark as one word, to be kept as text.
    public let text: String
    /// Whether the file has nothing in it.
    public let isEmpty: Bool

    init(_ status: stat) {
        isEmpty = status.st_size == 0
        // A write usually puts another file in its place; the times tell a number that was used again from the old file.
        text =
            "\(status.st_dev).\(status.st_ino).\(status.st_size).\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)."
            + "\(status.st_ctim.tv_sec).\(status.st_ctim.tv_nsec)"
    }
}

extension Files {
    /// The mark of the file there, or nil when there is none. It costs one system call.
    public static func mark(_ path: String) throws(FileError) -> FileMark? {
        try FileError.refuseZero(path, "look at")
        var status = stat()
        if unsafe stat(path, &status) == 0 { return FileMark(status) }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw FileError("look at", path, errno: errno)
    }
}
