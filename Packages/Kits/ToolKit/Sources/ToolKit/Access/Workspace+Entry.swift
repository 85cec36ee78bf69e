import CToolKit
public import Capabilities
import FileKit
import Glibc

extension Workspace {
    /// Something in the folder, for programs that show files; tools have words of their own for models.
    public struct Entry: Sendable, Hashable {
        /// From the workspace on, as it is: whoever shows it makes it safe.
        public let path: String
        public let kind: Kind
        public let size: Int
        public let modified: Timestamp
        /// Another one whenever a file has become another, in the form of HTTP's entity tags.
        public let etag: String
        let stamp: FileStamp

        /// The last part of the path.
        public var name: String { path.split(separator: "/").last.map(String.init) ?? "." }

        public enum Kind: String, Choice, Hashable {
            case file, folder, link, other
        }

        init(_ path: EntryPath, _ status: stat) {
            self.path = path.bytes.isEmpty ? "." : String(decoding: path.bytes, as: UTF8.self)
            kind =
                switch FileInfo.Kind(mode: status.st_mode) {
                case .regular: .file
                case .directory: .folder
                case .symbolicLink: .link
                default: .other
                }
            size = Int(status.st_size)
            let (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
            modified = Timestamp(microseconds: seconds &* 1_000_000 &+ nanoseconds / 1000)
            func hex(_ number: Int64) -> String { String(number, radix: 16) }
            let place = hex(Int64(truncatingIfNeeded: status.st_ino))
            etag = "\"\(place)-\(hex(Int64(status.st_size)))-\(hex(seconds)).\(hex(nanoseconds))\""
            stamp = FileStamp(status)
        }

        init(_ path: EntryPath, _ file: borrowing FileDescriptor) throws(WorkspaceError) {
            var status = stat()
            guard unsafe fstat(file.rawValue, &status) == 0 else { throw WorkspaceError(errno, path) }
            self.init(path, status)
        }
    }

    /// Where to look around, and at how much.
    public struct Look: Sendable, Hashable {
        /// From the workspace on.
        public var path: String
        /// Whether names that begin with a dot count.
        public var hidden: Bool
        /// Whether what .gitignore leaves out counts.
        public var ignored: Bool
        public var limit: Int

        public init(path: String = ".", hidden: Bool = false, ignored: Bool = false, limit: Int = 1000) {
            self.path = path
            self.hidden = hidden
            self.ignored = ignored
            self.limit = limit
        }

        func entryPath() throws(WorkspaceError) -> EntryPath {
            path.isEmpty || path == "." ? .here : try EntryPath(path)
        }
    }
}
