public import JSON

/// A path that its caller may use, as a grant has decided. FileKit opens it.
public struct GrantedPath: Sendable, Hashable {
    /// Absolute, and for callers with bounds without `.` and `..`.
    public let absolute: String
    /// Nil for who may go wherever the system lets them.
    public let bounds: Bounds?

    /// Where a path has to stay, whatever links lie on its way.
    public struct Bounds: Sendable, Hashable {
        /// The folder from which it is opened.
        public let root: FolderRoot
        /// The path from the root on, without a slash at its beginning; empty for the root itself.
        public let rest: [UInt8]
        /// Whether it may be changed.
        public let isWriting: Bool
        let layers: [Grant.Folders]
        private let bound: Grant.Holder

        init(
            root: FolderRoot, rest: ArraySlice<UInt8>, isWriting: Bool, layers: [Grant.Folders], bound: Grant.Holder
        ) {
            self.root = root
            self.rest = Array(rest)
            self.isWriting = isWriting
            self.layers = layers
            self.bound = bound
        }

        /// Where the path leads as long as no link is on its way.
        public var place: AbsolutePath { root.place.appending(plain: rest) }

        /// Who is bound, for a refusal.
        public var holder: String { bound.words }

        /// Whether what was opened is where it may be: every layer decides, by where it really is.
        public func allows(_ place: AbsolutePath) -> Bool {
            layers.allSatisfy { folders in
                folders.roots.contains { place.lies(beneath: $0.place) }
                    && !folders.closes(place, isWriting: isWriting)
            }
        }
    }
}

/// A folder beneath which somebody may read or write. It is held by what it is, so that another one in its place is not
/// taken for it.
public struct FolderRoot: Sendable, Hashable {
    /// In one piece, since it goes along with each path.
    private let facts: Facts

    private final class Facts: Sendable {
        let path, canonical: String
        let device, inode: UInt64
        let git: Git
        let handle: (any FolderHandle)?
        let place, written: AbsolutePath

        init(
            _ path: String, _ canonical: String, _ device: UInt64, _ inode: UInt64, _ git: Git,
            _ handle: (any FolderHandle)?
        ) {
            (self.path, self.canonical) = (path, canonical)
            (self.device, self.inode) = (device, inode)
            self.git = git
            self.handle = handle
            place = AbsolutePath(canonical)
            written = AbsolutePath(path)
        }
    }

    /// As somebody wrote it, absolute.
    public var path: String { facts.path }
    /// Without links.
    public var canonical: String { facts.canonical }
    public var device: UInt64 { facts.device }
    public var inode: UInt64 { facts.inode }
    public var git: Git { facts.git }
    /// The folder itself, held open so that whatever is opened beneath it is not looked for from the top each time.
    public var handle: (any FolderHandle)? { facts.handle }
    /// Where it is without links.
    var place: AbsolutePath { facts.place }

    /// What a folder is to git.
    public enum Git: Sendable, Hashable {
        /// A work tree, which has a `.git` of its own.
        case workTree
        /// What a `.git` holds, under whatever name: hooks, settings, objects.
        case repository
        /// Neither, as far as can be seen in the folder itself.
        case other
    }

    public init(
        path: String, canonical: String, device: UInt64, inode: UInt64, git: Git = .other,
        handle: (any FolderHandle)? = nil
    ) {
        facts = Facts(path, canonical, device, inode, git, handle)
    }

    /// The path from here on, by whichever of its names it begins with.
    func rest(of path: AbsolutePath) -> ArraySlice<UInt8>? {
        path.rest(beneath: facts.written) ?? path.rest(beneath: facts.place)
    }

    /// Whichever of its names a path begins with.
    func beginning(of path: AbsolutePath) -> AbsolutePath? {
        if path.lies(beneath: facts.written) { return facts.written }
        return path.lies(beneath: facts.place) ? facts.place : nil
    }

    /// By which folder it is: a handle is only a way to it.
    public static func == (a: FolderRoot, b: FolderRoot) -> Bool {
        (a.path, a.canonical, a.device, a.inode, a.git) == (b.path, b.canonical, b.device, b.inode, b.git)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(device)
        hasher.combine(inode)
    }
}

/// A folder that is held open. FileKit makes and uses it.
public protocol FolderHandle: AnyObject, Sendable {}

extension Grant {
    /// Folders beneath which files may be opened.
    public struct Folders: Sendable, Hashable {
        public var roots: [FolderRoot]
        /// Whether these are what is permitted where nobody has said more.
        public var isDefault: Bool
        /// Where the caller began. Where that is a work tree, a `.git` above it counts for nothing: some are in one.
        public var start: FolderRoot?
        /// What stays closed even beneath the roots, by canonical paths: the program's own settings, keys and data.
        public var closed: [String] {
            didSet { closedPlaces = closed.map { AbsolutePath($0) } }
        }
        private var closedPlaces: [AbsolutePath]

        public init(
            roots: [FolderRoot] = [], isDefault: Bool = false, start: FolderRoot? = nil, closed: [String] = []
        ) {
            self.roots = roots
            self.isDefault = isDefault
            self.start = start
            self.closed = closed
            closedPlaces = closed.map { AbsolutePath($0) }
        }

        /// Whether a place lies beneath one of the roots, by whichever name.
        func have(_ place: AbsolutePath) -> Bool { roots.contains { $0.beginning(of: place) != nil } }

        /// Whether something that stays closed lies beneath a place.
        func closesSomething(beneath place: AbsolutePath) -> Bool { closedPlaces.contains { $0.lies(beneath: place) } }

        /// Whether a place beneath the roots is not to be opened all the same.
        func closes(_ place: AbsolutePath, isWriting: Bool) -> Bool {
            if closedPlaces.contains(where: { place.lies(beneath: $0) }) { return true }
            return isWriting && keeps(place)
        }

        /// Whether a place belongs to git or to us. The files there say what other programs start, or what is trusted: a
        /// bundle or a model never changes them.
        func keeps(_ place: AbsolutePath) -> Bool {
            if place.has(".martlet") { return true }
            guard let start, start.git != .other, let beginning = start.beginning(of: place) else {
                return place.has(".git")
            }
            return start.git == .repository || place.has(".git", beneath: beginning)
        }
    }

    /// The path that a caller may open, or why it may not.
    ///
    /// - Parameter folder: from which a path counts that is not absolute.
    public func path<Use>(_ given: GivenPath<Use>, from folder: String) throws(AccessFailure) -> GrantedPath {
        let whole = AbsolutePath.joined(given.text, in: folder)
        let path = AbsolutePath(whole)
        try check(.path(path.text, Use.purpose))
        // Of all folders that hold it, the one of the longest name: it is opened from there, and held against all of them.
        var nearest: (holder: Holder, root: FolderRoot, rest: ArraySlice<UInt8>)?
        var bounds: [Folders] = []
        for index in layers.indices {
            guard let folders = layers[index].folders else { continue }
            bounds.append(folders)
            for root in folders.roots {
                guard let rest = root.rest(of: path) else { continue }
                if nearest.map({ rest.count < $0.rest.count }) ?? true { nearest = (layers[index].holder, root, rest) }
            }
        }
        guard let nearest else { return GrantedPath(absolute: whole, bounds: nil) }
        return GrantedPath(
            absolute: path.text,
            bounds: GrantedPath.Bounds(
                root: nearest.root, rest: nearest.rest, isWriting: Use.purpose != .read, layers: bounds,
                bound: nearest.holder))
    }

    /// What was given, as it was given, for what does not open it here: a name that may stand in place of a path, or
    /// SQLite and other programs, which would follow links to wherever these lead.
    public func text(of given: OwnPath, from folder: String) throws(AccessFailure) -> String {
        _ = try path(given, from: folder)
        return given.text
    }
}

extension Schema {
    /// What a value of this shape names that a grant decides about before an action begins.
    ///
    /// - Parameter folder: from which a path counts that is not absolute.
    public func requests(in value: JSON, from folder: String) -> [GrantRequest] {
        switch self {
        case .path(.any): return []
        case .path(let purpose):
            guard let text = value.string else { return [] }
            return [.path(AbsolutePath(AbsolutePath.joined(text, in: folder)).text, purpose)]
        case .secretName: return value.string.map { [.secret(SecretName($0))] } ?? []
        case .program: return value.string.map { [.program($0)] } ?? []
        case .host:
            // What cannot be read here is decided about by the client, when it is spoken to.
            return value.string.flatMap { ServerPattern.address(of: $0) }.map { [.host($0.host, port: $0.port)] } ?? []
        case .array(let element): return (value.array ?? []).flatMap { element.requests(in: $0, from: folder) }
        case .map(let element): return (value.object ?? [:]).flatMap { element.requests(in: $1, from: folder) }
        case .record(let properties):
            return properties.flatMap { property in
                value[property.name].map { property.schema.requests(in: $0, from: folder) } ?? []
            }
        case .optional(let inner): return inner.requests(in: value, from: folder)
        case .any, .boolean, .integer, .number, .string, .choice, .url, .duration, .size, .time, .secret: return []
        }
    }
}
