public import Capabilities

/// What a bundle may do. Anything else fails without asking.
public struct BundlePermissions: Sendable, Hashable {
    /// The word in `hosts` for the servers that the user has set up.
    public static let setUp = "set-up"

    /// The strongest effect that an action may have.
    public var effects = Effect.reads
    /// Actions that are allowed whatever their effect: an id, or the beginning of ids and `.*`.
    public var actions: [String] = []
    /// The servers that may be contacted; if nil, the servers that the user has set up.
    public var hosts: [String]?
    /// The folders whose files may be opened; if nil, the folder where the run started, or the project's folder.
    public var paths: [String]?
    /// The secrets that may be read, with `*`.
    public var secrets: [String] = []
    /// The programs that steps may run in a sandbox, with `*`.
    public var programs: [String] = []
    /// The tools that models may use without asking, as `source/tool` with `*`.
    public var tools: [String] = []
    /// The maximum number of actions and tool calls; no limit if nil.
    public var calls: Int?
    /// The time in which actions may start, from the beginning of the run; no limit if nil.
    public var time: Duration?
}

/// The surroundings of a run, which give a bundle's permissions their meaning.
public struct BundleReach: Sendable {
    /// Opens a folder that a bundle names. Throws the reason if that fails.
    public typealias Open = @Sendable (_ path: String) throws(BundleReachError) -> FolderRoot

    /// The folder whose files may be opened if a bundle does not name folders.
    public let folder: FolderRoot?
    /// The folder where the command runs. Paths in steps are relative to it.
    public let current: String
    /// Folders that are closed to every bundle, as canonical paths.
    public let closed: [String]
    /// The servers that the user has set up, in the form that a grant uses.
    public let servers: [String]
    private let open: Open

    /// - Parameter open: opens a folder by its absolute path.
    public init(
        folder: FolderRoot? = nil, current: String = "/", closed: [String] = [], servers: [String] = [],
        open: @escaping Open = { _ throws(BundleReachError) in throw BundleReachError(reason: "it does not exist") }
    ) {
        self.folder = folder
        self.current = current
        self.closed = closed
        self.servers = servers
        self.open = open
    }

    /// The folder of an entry in `permissions.paths`. `.` is the default folder. Other relative paths start there and
    /// must stay inside, so that an entry which looks like a part of the project is one.
    public func root(_ path: String) throws(BundleReachError) -> FolderRoot {
        if AbsolutePath.isAbsolute(path) { return try open(path) }
        guard let folder else { throw BundleReachError(reason: "the folder where the run began is gone") }
        if path == "." { return folder }
        let root = try open(AbsolutePath.joined(path, in: folder.canonical))
        guard AbsolutePath(root.canonical).lies(beneath: AbsolutePath(folder.canonical)) else {
            throw BundleReachError(reason: "it leads to \(root.canonical); write that path if you want to allow it")
        }
        return root
    }
}

/// Why a folder in `permissions.paths` cannot be used.
public struct BundleReachError: Error {
    /// The reason, as the second half of a sentence: "it does not exist".
    public let reason: String

    /// - Parameter reason: the second half of a sentence about the folder.
    public init(reason: String) {
        self.reason = reason
    }
}
