public import JSON

/// A path that a grant allows its caller to use. FileKit opens it.
public struct GrantedPath: Sendable, Hashable {
    /// Absolute; for restricted callers also without `.` and `..`.
    public let absolute: String
    /// Nil if the caller may go wherever the system allows.
    public let bounds: Bounds?

    /// The area that a path must stay in, whatever links it contains.
    public struct Bounds: Sendable, Hashable {
        /// The folder from which it is opened.
        public let root: FolderRoot
        /// The path below the root, without a leading slash; empty for the root itself.
        public let rest: [UInt8]
        /// Whether it may be changed.
        public let isWriting: Bool
        private let layers: [Grant.Layer]
        private let bound: Grant.Holder

        init(
            root: FolderRoot, rest: ArraySlice<UInt8>, isWriting: Bool, layers: [Grant.Layer], bound: Grant.Holder
        ) {
            self.root = root
            self.rest = Array(rest)
            self.isWriting = isWriting
            self.layers = layers
            self.bound = bound
        }

        /// The path's location if it contains no links.
        public var place: AbsolutePath { root.place.appending(plain: rest) }

        /// The restricted party, for a refusal.
        public var holder: String { bound.words }

        /// Whether an opened file is in an allowed place. Every layer checks its real location.
        public func allows(_ place: AbsolutePath) -> Bool {
            layers.allSatisfy { layer in
                guard let folders = layer.folders else { return true }
                return folders.roots.contains { place.lies(beneath: $0.place) }
                    && !folders.closes(place, isWriting: isWriting)
            }
        }
    }
}

/// A folder below which a caller may read or write. It is identified by device and inode, so that another folder at the
/// same path is not mistaken for it.
public struct FolderRoot: Sendable, Hashable {
    /// In a single object, because it is copied with each path.
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

    /// As it was given, but absolute.
    public var path: String { facts.path }
    /// Without links.
    public var canonical: String { facts.canonical }
    /// The number of the device that the folder is on.
    public var device: UInt64 { facts.device }
    /// The number of the folder on its device.
    public var inode: UInt64 { facts.inode }
    /// How git uses the folder.
    public var git: Git { facts.git }
    /// The open folder itself, so that files below it are not looked up from the root each time.
    public var handle: (any FolderHandle)? { facts.handle }
    /// Its location without links.
    var place: AbsolutePath { facts.place }

    /// How git uses a folder.
    public enum Git: Sendable, Hashable {
        /// A work tree, which contains `.git`.
        case workTree
        /// The content of a `.git` folder, under whatever name: hooks, settings, objects.
        case repository
        /// Neither, as far as the folder itself shows.
        case other
    }

    /// Takes what was found when the folder was opened; FileKit's `init(opening:)` opens one.
    public init(
        path: String, canonical: String, device: UInt64, inode: UInt64, git: Git = .other,
        handle: (any FolderHandle)? = nil
    ) {
        facts = Facts(path, canonical, device, inode, git, handle)
    }

    /// The path below this folder, whichever of its two names the path begins with.
    func rest(of path: AbsolutePath) -> ArraySlice<UInt8>? {
        path.rest(beneath: facts.written) ?? path.rest(beneath: facts.place)
    }

    /// The one of its two names that a path begins with.
    func beginning(of path: AbsolutePath) -> AbsolutePath? {
        if path.lies(beneath: facts.written) { return facts.written }
        return path.lies(beneath: facts.place) ? facts.place : nil
    }

    /// Compares which folder it is and ignores the handle.
    public static func == (a: FolderRoot, b: FolderRoot) -> Bool {
        (a.path, a.canonical, a.device, a.inode, a.git) == (b.path, b.canonical, b.device, b.inode, b.git)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(device)
        hasher.combine(inode)
    }
}

/// An open folder. FileKit creates and uses it.
public protocol FolderHandle: AnyObject, Sendable {}

extension Grant {
    /// Folders below which files may be opened.
    public struct Folders: Sendable, Hashable {
        /// The folders; everything below them is open, except what is closed.
        public var roots: [FolderRoot]
        /// Whether these are the default folders.
        public var isDefault: Bool
        /// Where the caller started. If that is a work tree, a `.git` above it is ignored, because some work trees are
        /// inside one.
        public var start: FolderRoot?
        /// What stays closed even below the roots, by canonical paths: the program's own settings, keys and data.
        public var closed: [String] {
            didSet { closedPlaces = closed.map { AbsolutePath($0) } }
        }
        private var closedPlaces: [AbsolutePath]

        /// By default no folder is open.
        public init(
            roots: [FolderRoot] = [], isDefault: Bool = false, start: FolderRoot? = nil, closed: [String] = []
        ) {
            self.roots = roots
            self.isDefault = isDefault
            self.start = start
            self.closed = closed
            closedPlaces = closed.map { AbsolutePath($0) }
        }

        /// Whether a place is below one of the roots, by either name.
        func have(_ place: AbsolutePath) -> Bool { roots.contains { $0.beginning(of: place) != nil } }

        /// Whether something closed is below a place.
        func closesSomething(beneath place: AbsolutePath) -> Bool { closedPlaces.contains { $0.lies(beneath: place) } }

        /// Whether a place is closed although it is below the roots.
        func closes(_ place: AbsolutePath, isWriting: Bool) -> Bool {
            if closedPlaces.contains(where: { place.lies(beneath: $0) }) { return true }
            return isWriting && keeps(place)
        }

        /// Whether a place belongs to git or to this program. Files there determine what other programs run or what is
        /// trusted, so a bundle or a model never changes them.
        func keeps(_ place: AbsolutePath) -> Bool {
            if place.has(".martlet") { return true }
            guard let start, start.git != .other, let beginning = start.beginning(of: place) else {
                return place.has(".git")
            }
            return start.git == .repository || place.has(".git", beneath: beginning)
        }
    }

    /// The path that a caller may open. Throws if it may not.
    ///
    /// - Parameter folder: the base for relative paths.
    public func path<Use>(_ given: GivenPath<Use>, from folder: String) throws(AccessFailure) -> GrantedPath {
        let whole = AbsolutePath.joined(given.text, in: folder)
        let path = AbsolutePath(whole)
        try check(path, Use.purpose)
        // Of all folders that contain the path, uses the one nearest to it; the path is opened from there and checked
        // against all of them.
        var nearest: (holder: Holder, root: FolderRoot, rest: ArraySlice<UInt8>)?
        for index in layers.indices {
            for root in layers[index].folders?.roots ?? [] {
                guard let rest = root.rest(of: path) else { continue }
                if nearest.map({ rest.count < $0.rest.count }) ?? true { nearest = (layers[index].holder, root, rest) }
            }
        }
        guard let nearest else { return GrantedPath(absolute: whole, bounds: nil) }
        return GrantedPath(
            absolute: path.text(from: whole),
            bounds: GrantedPath.Bounds(
                root: nearest.root, rest: nearest.rest, isWriting: Use.purpose != .read, layers: layers,
                bound: nearest.holder))
    }

    /// The unchanged text of a path, for code that does not open it here: a name that may replace a path, or SQLite and
    /// other programs, which follow links wherever they lead.
    public func text(of given: OwnPath, from folder: String) throws(AccessFailure) -> String {
        _ = try path(given, from: folder)
        return given.text
    }
}

extension Schema {
    /// The requests that a grant must decide before an action gets this value.
    ///
    /// - Parameter folder: the base for relative paths.
    public func requests(in value: JSON, from folder: String) -> [GrantRequest] {
        switch self {
        case .path(.any): return []
        case .path(let purpose):
            guard let text = value.string else { return [] }
            return [.path(AbsolutePath(AbsolutePath.joined(text, in: folder)).text, purpose)]
        case .secretName: return value.string.map { [.secret(SecretName($0))] } ?? []
        case .program: return value.string.map { [.program($0)] } ?? []
        case .host:
            // If the address cannot be parsed here, the client decides when it connects.
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
