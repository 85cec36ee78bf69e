/// Which entries of a project's folder to list.
public struct AgentFileQuery: Sendable, Hashable {
    /// The folder, relative to that of the project.
    public var path: String
    /// How many levels of folders to list.
    public var depth: Int
    /// Only files whose path matches, such as `**/*.swift`, at any depth.
    public var glob: String?
    /// Whether to include names that begin with a dot.
    public var hidden: Bool
    /// Whether to include files that `.gitignore` excludes.
    public var ignored: Bool
    /// The maximum number of entries.
    public var limit: Int

    /// Without arguments it is the folder of the project itself.
    public init(
        path: String = ".", depth: Int = 1, glob: String? = nil, hidden: Bool = false, ignored: Bool = false,
        limit: Int = 1000
    ) {
        self.path = path
        self.depth = depth
        self.glob = glob
        self.hidden = hidden
        self.ignored = ignored
        self.limit = limit
    }
}

/// An entry of a project's folder.
public struct AgentFile: Record, Hashable {
    /// What an entry is.
    public enum Kind: String, Choice, Hashable {
        case file, folder, link, other
    }

    /// The path, relative to the folder of the project.
    public var path: String
    /// What it is.
    public var kind: Kind
    /// The size of a file in bytes.
    public var size: Int?
    /// When it was last changed.
    public var modified: Timestamp?
    /// The tag of a file's content, for `AgentWriteCondition`.
    public var etag: String?

    /// Everything but the path and the kind may be unknown.
    public init(path: String, kind: Kind, size: Int? = nil, modified: Timestamp? = nil, etag: String? = nil) {
        self.path = path
        self.kind = kind
        self.size = size
        self.modified = modified
        self.etag = etag
    }

    /// Whether a path can name a file of a project: it is relative and has no `.`, `..` or empty part, so that it means
    /// the same as text and as a file.
    public static func isPath(_ path: String) -> Bool {
        guard !path.isEmpty, path.utf8.count < 4096, !path.utf8.contains(0) else { return false }
        return path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty && part != "." && part != ".."
        }
    }

    public static let fields: [Field<AgentFile>] = [
        Field("path", "Path in the project's folder", .name) { $0.path },
        Field("kind", "file, folder, link or other", .state) { $0.kind },
        Field("size", "Size of a file in bytes") { $0.size },
        Field("modified", "Time of the last change") { $0.modified },
        Field("etag", "Tag of the content", .detail) { $0.etag },
    ]
}

/// The content of a file, or a part of it.
public struct AgentFileContent: Sendable, Hashable {
    /// The largest number of bytes that is read at once.
    public static let most = 16 << 20

    /// The bytes.
    public var bytes: [UInt8]
    /// The position of the first byte in the file.
    public var start: Int
    /// The size of the whole file.
    public var size: Int
    /// The tag of the content, for `AgentWriteCondition`.
    public var etag: String?

    /// By default it is the whole file.
    public init(bytes: [UInt8], start: Int = 0, size: Int? = nil, etag: String? = nil) {
        self.bytes = bytes
        self.start = start
        self.size = size ?? bytes.count
        self.etag = etag
    }
}

/// When a file may be written.
public enum AgentWriteCondition: Sendable, Hashable {
    /// Whatever is there.
    case always
    /// Only if there is no file yet.
    case isNew
    /// Only if the file still has this content.
    case matches(etag: String)
}
