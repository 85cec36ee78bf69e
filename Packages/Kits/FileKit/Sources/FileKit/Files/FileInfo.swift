import Glibc

/// The facts of the file system about one entry.
public struct FileInfo: Sendable, Hashable {
    /// The kind of the entry.
    public let kind: Kind
    /// The size in bytes; meaningful for regular files.
    public let size: Int64
    /// The permission bits (0o7777).
    public let mode: UInt32
    /// Its user and its group.
    let owner: UInt32
    let group: UInt32
    /// The file system and the entry in it. They do not change with the name.
    public let device: UInt64
    /// The number of the entry in its file system.
    public let inode: UInt64
    /// When the content last changed, as the time since 1970.
    public let modified: Duration

    /// The kind of a directory entry.
    public enum Kind: Sendable, Hashable {
        /// The kinds that Linux supports.
        case regular, directory, symbolicLink, fifo, socket, device
        /// An unknown kind.
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
    /// The kind in the mode of an entry, as in `stat`.
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

/// A mark that changes whenever a file does, even when another file replaces it.
public struct FileMark: Sendable, Hashable {
    /// The mark as one word, to store as text.
    public let text: String
    /// Whether the file is empty.
    public let isEmpty: Bool

    init(_ status: stat) {
        isEmpty = status.st_size == 0
        // A write usually replaces the file. The times distinguish a reused inode number from the old file.
        text =
            "\(status.st_dev).\(status.st_ino).\(status.st_size).\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)."
            + "\(status.st_ctim.tv_sec).\(status.st_ctim.tv_nsec)"
    }
}
