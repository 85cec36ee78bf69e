import Capabilities
import FileKit
import Glibc

/// The status of an open file.
struct EntryStatus: Sendable {
    let kind: FileInfo.Kind
    let size: Int
    let modified: Timestamp
    /// When its content or status last changed. Programs cannot set this time.
    let changed: Timestamp
    /// Zero after the last name was removed.
    let links: Int
    /// The permission bits, including setuid and setgid.
    let mode: mode_t
    let owner: uid_t
    let group: gid_t
    let stamp: FileStamp

    init(of descriptor: borrowing FileDescriptor) throws(WorkspaceError) {
        var status = stat()
        guard unsafe fstat(descriptor.rawValue, &status) == 0 else {
            throw WorkspaceError(errno, EntryPath(bytes: Array(descriptor.path.utf8)))
        }
        self.init(status)
    }

    init(_ status: stat) {
        kind = FileInfo.Kind(mode: status.st_mode)
        size = Int(status.st_size)
        modified = Timestamp(
            microseconds: Int64(status.st_mtim.tv_sec) &* 1_000_000 &+ Int64(status.st_mtim.tv_nsec) / 1000)
        changed = Timestamp(
            microseconds: Int64(status.st_ctim.tv_sec) &* 1_000_000 &+ Int64(status.st_ctim.tv_nsec) / 1000)
        links = Int(status.st_nlink)
        mode = status.st_mode & 0o7777
        (owner, group) = (status.st_uid, status.st_gid)
        stamp = FileStamp(status)
    }
}

extension FileInfo.Kind {
    /// The kind from a listing, which some file systems leave out.
    init(listed type: UInt8) {
        self =
            switch Int(type) {
            case DT_REG: .regular
            case DT_DIR: .directory
            case DT_LNK: .symbolicLink
            case DT_FIFO: .fifo
            case DT_SOCK: .socket
            case DT_CHR, DT_BLK: .device
            default: .unknown
            }
    }

    /// The kind with its article, for a sentence.
    var words: String {
        switch self {
        case .regular: "a file"
        case .directory: "a folder"
        case .symbolicLink: "a link"
        case .fifo: "a FIFO"
        case .socket: "a socket"
        case .device: "a device"
        case .unknown: "no regular file"
        }
    }
}

/// Identifies a version of a file without its content.
struct FileStamp: Sendable, Hashable {
    private let device: UInt
    private let number: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    init(_ status: stat) {
        (device, number, size) = (UInt(status.st_dev), UInt(status.st_ino), Int(status.st_size))
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }

    /// The size and modification time, for a sentence.
    var words: String {
        let time = Timestamp(microseconds: Int64(seconds) &* 1_000_000 &+ Int64(nanoseconds / 1000))
        return "\(ByteCount(size).words) of \(time.iso8601)"
    }
}
