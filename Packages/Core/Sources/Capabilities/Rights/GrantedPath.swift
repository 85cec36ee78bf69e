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
        /// The names from the root on; none for the root itself.
        public let names: [[UInt8]]
        /// Whether it may be changed.
        public let isWriting: Bool
        let layers: [Grant.Folders]
        /// Who is bound, for a refusal.
        public let holder: String

        /// Whether what was opened is where it may be: every layer decides, by where it really is.
        public func allows(_ place: AbsolutePath) -> Bool {
            layers.allSatisfy { folders in
                folders.roots.contains { place.lies(beneath: AbsolutePath($0.canonical)) }
                    && !folders.closes(place, isWriting: isWriting)
            }
        }
    }
}

/// A folder beneath which somebody may read or write. It is held by what it is, so that another one in its place is not
/// taken for it.
public struct FolderRoot: Sendable, Hashable {
    /// As somebody wrote it, absolute.
    public let path: String
    /// Without links.
    public let canonical: String
    public let device: UInt64
    public let inode: UInt64
    public let git: Git

    /// What a folder is to git.
    public enum Git: Sendable, Hashable {
        /// A work tree, which has a `.git` of its own.
        case workTree
        /// What a `.git` holds, under whatever name: hooks, settings, objects.
        case repository
        /// Neither, as far as can be seen in the folder itself.
        case other
    }

    public init(path: String, canonical: String, device: UInt64, inode: UInt64, git: Git = .other) {
        self.path = path
        self.canonical = canonical
        self.device = device
        self.inode = inode
        self.git = git
    }

    /// The names from here on, by whichever of its names the path begins with.
    func names(of path: AbsolutePath) -> ArraySlice<[UInt8]>? {
        path.names(beneath: AbsolutePath(self.path)) ?? path.names(beneath: AbsolutePath(canonical))
    }
}

extension Grant {
    /// Folders beneath which files may be opened.
    public struct Folders: Sendable, Hashable {
        public var roots: [FolderRoot]
        /// Whether these are what is permitted where nobody has said more.
        public var isDefault: Bool
        /// Where the caller began. Where that is a work tree, a `.git` above it counts for nothing: some are in one.
        public var start: FolderRoot?
        /// What stays closed even beneath the roots, by canonical paths: the program's own settings, keys and data.
        public var closed: [String]

        public init(
            roots: [FolderRoot] = [], isDefault: Bool = false, start: FolderRoot? = nil, closed: [String] = []
        ) {
            self.roots = roots
            self.isDefault = isDefault
            self.start = start
            self.closed = closed
        }

        /// Whether a place beneath the roots is not to be opened all the same.
        func closes(_ place: AbsolutePath, isWriting: Bool) -> Bool {
            if closed.contains(where: { place.lies(beneath: AbsolutePath($0)) }) { return true }
            return isWriting && keeps(place)
        }

        /// Whether a place belongs to git or to us. The files there say what other programs start, or what is trusted: a
        /// bundle or a model never changes them.
        func keeps(_ place: AbsolutePath) -> Bool {
            let beneath = start?.names(of: place)
            if place.names.contains(Array(".martlet".utf8)) || beneath != nil && start?.git == .repository {
                return true
            }
            let names = start?.git == .workTree ? beneath ?? place.names[...] : place.names[...]
            return names.contains(Array(".git".utf8))
        }
    }

    /// The path that a caller may open, or why it may not.
    ///
    /// - Parameter folder: from which a path counts that is not absolute.
    public func path<Use>(_ given: GivenPath<Use>, from folder: String) throws(AccessFailure) -> GrantedPath {
        let whole = AbsolutePath.joined(given.text, in: folder)
        let path = AbsolutePath(whole)
        try check(.path(path.text, Use.purpose))
        let bound = layers.compactMap { layer in layer.folders.map { (layer.holder, $0) } }
        // Of all folders that hold it, the one of the longest name: it is opened from there, and held against all of them.
        let roots = bound.flatMap { holder, folders in folders.roots.map { (holder, $0) } }
        let nearest = roots.compactMap { holder, root in root.names(of: path).map { (holder, root, $0) } }
            .min { $0.2.count < $1.2.count }
        guard let (holder, root, names) = nearest else { return GrantedPath(absolute: whole, bounds: nil) }
        return GrantedPath(
            absolute: path.text,
            bounds: .init(
                root: root, names: Array(names), isWriting: Use.purpose != .read, layers: bound.map(\.1),
                holder: holder.words))
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
