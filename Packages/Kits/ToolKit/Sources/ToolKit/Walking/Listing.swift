import FileKit
import Glibc

/// The names in a folder, sorted by their bytes. They are kept in one piece of memory, because a folder may have very
/// many.
struct Listing: Sendable {
    struct Item: Sendable {
        let start: Int32
        let length: Int32
        let kind: FileInfo.Kind
    }

    private var bytes: [UInt8] = []
    private(set) var items: [Item] = []
    /// Whether there were more than the limit.
    private(set) var isCut = false

    /// Reads an open folder from the beginning.
    init(of folder: borrowing FileDescriptor, limit: Int, cancellation: Cancellation? = nil) throws {
        let own = fcntl(folder.rawValue, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { throw WorkspaceError(errno, EntryPath(bytes: Array(folder.path.utf8))) }
        guard let stream = unsafe fdopendir(own) else {
            let number = errno
            close(own)
            throw WorkspaceError(number, EntryPath(bytes: Array(folder.path.utf8)))
        }
        defer { unsafe closedir(stream) }
        while true {
            // Only errno distinguishes the end of readdir from a failure.
            errno = 0
            guard let found = unsafe readdir(stream) else { break }
            guard items.count < limit else {
                isCut = true
                break
            }
            if items.count % 1024 == 1023 { try cancellation?.check() }
            let kind = FileInfo.Kind(listed: unsafe found.pointee.d_type)
            let start = bytes.count
            unsafe withUnsafeBytes(of: &found.pointee.d_name) { unsafe bytes.append(contentsOf: $0.prefix { $0 != 0 }) }
            let name = bytes[start...]
            if name.elementsEqual([Byte.dot]) || name.elementsEqual([Byte.dot, Byte.dot]) {
                bytes.removeSubrange(start...)
            } else {
                items.append(Item(start: Int32(start), length: Int32(bytes.count - start), kind: kind))
            }
        }
        guard errno == 0 || isCut else { throw WorkspaceError(errno, EntryPath(bytes: Array(folder.path.utf8))) }
        sort()
    }

    private mutating func sort() {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            items.sort { left, right in
                let order = unsafe memcmp(
                    base + Int(left.start), base + Int(right.start), Int(min(left.length, right.length)))
                return order == 0 ? left.length < right.length : order < 0
            }
        }
    }

    func name(_ item: Item) -> ArraySlice<UInt8> {
        bytes[Int(item.start)..<Int(item.start + item.length)]
    }

    func contains(_ name: String) -> Bool {
        items.contains { self.name($0).elementsEqual(name.utf8) }
    }

    /// The names as texts.
    var names: [String] { items.map { String(decoding: name($0), as: UTF8.self) } }
}
