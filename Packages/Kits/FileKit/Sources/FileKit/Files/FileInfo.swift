import Glibc

/// What the file system says about one entry.
public struct FileInfo: Sendable, Hashable {
    /// What sort of entry it is.
    public let kind: Kind
    /// The size in bytes; meaningful for regular files.
    public let size: Int64
    /// The permission bits (0o7777).
    public let mode: UInt32
    /// The user and the group that it belongs to.
    let owner: UInt32
    let group: UInt32
    /// The file system and the entry in it, which stay the same under another name.
    public let device: UInt64
    public let inode: UInt64
    /// When the content last changed, as the time since 1970.
    public let modified: Duration

    /// The sort of a directory entry.
    public enum Kind: Sendable, Hashable {
        /// The sorts that Linux knows.
        case regular, directory, symbolicLink, fifo, socket, device
        /// One that this package does not know.
        case unknown
    }

    init(_ status: stat) {
        kind = Kind(mode: status.st_mode)
        size = Int64(status.st_size)
        mode = status.st_mode & 0o7777
        owner = status.st_uid
        group = status.st_gid
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
        modified = .seconds(status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    }
}

extension FileInfo.Kind {
    /// What the mode of an entry says, as `stat` gives it.
    public init(mode: UInt32) {
        self =
            switch mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .fifo
            case S_IFSOCK: .socket
            case S_IFCHR, S_IFBLK: .device
            default: .unknown
            }
    }
}

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
