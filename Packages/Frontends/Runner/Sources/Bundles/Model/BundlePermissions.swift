public import Capabilities

/// What a bundle may do. What is not said here fails; nobody is asked.
public struct BundlePermissions: Sendable, Hashable {
    /// The word of `hosts` for the servers that are set up.
    public static let setUp = "set-up"

    /// The farthest that any action may go.
    public var effects = Effect.reads
    /// Actions that may do whatever they do: an id, or the beginning of one and `.*`.
    public var actions: [String] = []
    /// The servers that may be spoken to; those that are set up when nil.
    public var hosts: [String]?
    /// The folders beneath which files may be opened; the one where the run was started, or the project's, when nil.
    public var paths: [String]?
    /// The secrets whose values may be had, with `*`.
    public var secrets: [String] = []
    /// The programs that steps may run in a sandbox, with `*`.
    public var programs: [String] = []
    /// The tools that models may use without being asked, as `source/tool` with `*`.
    public var tools: [String] = []
    /// How many actions and tool calls a run may do, and for how long it may begin new ones; no limit when nil.
    public var calls: Int?
    public var time: Duration?

    public init() {}
}

/// What is around a run, by which a bundle's permissions are understood.
public struct BundleReach: Sendable {
    /// Opens a folder that a bundle names; throws the reason why there is none.
    public typealias Open = @Sendable (_ path: String) throws(BundleReachError) -> FolderRoot

    /// The folder beneath which files may be opened where a bundle does not say more.
    public let folder: FolderRoot?
    /// Where the command runs, from which the paths of steps count.
    public let current: String
    /// What stays closed to every bundle, by canonical paths.
    public let closed: [String]
    /// The servers that are set up, as a grant names them.
    public let servers: [String]
    private let open: Open

    /// - Parameter open: opens a folder by its absolute path.
    public init(
        folder: FolderRoot? = nil, current: String = "/", closed: [String] = [], servers: [String] = [],
        open: @escaping Open = { _ throws(BundleReachError) in throw BundleReachError(reason: "there is none") }
    ) {
        self.folder = folder
        self.current = current
        self.closed = closed
        self.servers = servers
        self.open = open
    }

    /// The folder that `permissions.paths` names: `.` is the one that is meant without it, and others count from there and
    /// are in it, so that a line which reads like a part of the project is one.
    public func root(_ path: String) throws(BundleReachError) -> FolderRoot {
        if AbsolutePath.isAbsolute(path) { return try open(path) }
        guard let folder else { throw BundleReachError(reason: "the folder where the run began is gone") }
        if path == "." { return folder }
        let root = try open(AbsolutePath.joined(path, in: folder.canonical))
        guard AbsolutePath(root.canonical).lies(beneath: AbsolutePath(folder.canonical)) else {
            throw BundleReachError(reason: "it leads to \(root.canonical); write that, if it is meant")
        }
        return root
    }
}

/// Why a folder of `permissions.paths` is none.
public struct BundleReachError: Error {
    public let reason: String

    public init(reason: String) {
        self.reason = reason
    }
}

extension Bundle {
    /// What its steps may do. A folder that cannot be opened permits nothing; the check has told of it.
    public func grant(in reach: BundleReach) -> Grant {
        let hosts = permissions.hosts.map { hosts in
            Grant.Hosts.named(hosts.flatMap { $0 == BundlePermissions.setUp ? reach.servers : [$0] })
        }
        let folders = Grant.Folders(
            roots: folders(in: reach), isDefault: permissions.paths == nil, start: reach.folder, closed: reach.closed)
        return Grant(
            Grant.Layer(
                .bundle(name), effects: permissions.effects, actions: permissions.actions,
                hosts: hosts ?? .setUp(reach.servers),
                setUp: permissions.hosts?.contains(BundlePermissions.setUp) == true ? reach.servers : [],
                folders: folders, secrets: permissions.secrets,
                programs: permissions.programs,
                tools: permissions.tools, limits: GrantLimits(calls: permissions.calls, time: permissions.time)))
    }

    /// The folders beneath which its steps may open files, without those that cannot be opened.
    func folders(in reach: BundleReach) -> [FolderRoot] {
        guard let paths = permissions.paths else { return reach.folder.map { [$0] } ?? [] }
        return paths.compactMap { path in
            do throws(BundleReachError) { return try reach.root(path) } catch { return nil }
        }
    }
}
