public import JSON

/// A path that its caller may use, as a grant has decided. FileKit opens it.
public struct GrantedPath: Sendable, Hashable {
    /// Absolute, and for callers with bounds without `.` and `..`.
    public let absolute: String
    /// Nil for who may go wherever the system lets them.
    public let bounds: Bounds?

    /// Where a path has to stay, whatever links lie on its way.
    public struct Bounds: Sendable, Hashable {
        public let root: FolderRoot
        /// From the root on; empty for the root itself.
        public let relative: String
        /// Folders that stay closed even beneath the root, by their canonical paths.
        public let closed: [String]
        /// Whether it may be changed.
        public let isWriting: Bool
        /// Who is bound, for a refusal.
        public let holder: String
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

    public init(path: String, canonical: String, device: UInt64, inode: UInt64) {
        self.path = path
        self.canonical = canonical
        self.device = device
        self.inode = inode
    }

    /// What is left of a path from here on; nil where it lies elsewhere.
    func relative(_ absolute: String) -> String? {
        for name in [path, canonical] {
            if absolute == name { return "" }
            let prefix = name == "/" ? name : name + "/"
            if absolute.hasPrefix(prefix) { return String(absolute.dropFirst(prefix.count)) }
        }
        return nil
    }
}

extension Grant {
    /// Folders whose files name programs that others start, or say what is trusted: nobody with bounds changes them.
    public static let keptFolders = [".git", ".martlet"]

    /// The path that a caller may open, or why it may not.
    ///
    /// - Parameter folder: from which a path counts that is not absolute.
    public func path<Use>(_ given: GivenPath<Use>, from folder: String) throws(AccessFailure) -> GrantedPath {
        let whole =
            given.text.hasPrefix("/") ? given.text : folder == "/" ? "/\(given.text)" : "\(folder)/\(given.text)"
        let absolute = Self.normalized(whole)
        try check(.path(absolute, Use.purpose))
        guard let innermost = innermostRoot(of: absolute) else { return GrantedPath(absolute: whole, bounds: nil) }
        return GrantedPath(
            absolute: absolute,
            bounds: .init(
                root: innermost.root, relative: innermost.root.relative(absolute) ?? "", closed: innermost.closed,
                isWriting: Use.purpose != .read, holder: innermost.holder))
    }

    /// What was given, as it was given, for what does not open it here: a name that may stand in place of a path, or
    /// SQLite and other programs, which would follow links to wherever these lead. Only those may have it who may open
    /// everything.
    public func text<Use>(of given: GivenPath<Use>, from folder: String) throws(AccessFailure) -> String {
        guard let bounds = try path(given, from: folder).bounds else { return given.text }
        throw AccessFailure(
            rule: "\(bounds.holder) may not have this done: it could be led away from "
                + PlainText.escape(bounds.root.path), mend: "do it yourself")
    }

    /// Without empty parts, `.` and `..`, as text.
    static func normalized(_ absolute: String) -> String {
        var parts: [Substring] = []
        for part in absolute.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
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
            guard let text = value.string, !(purpose == .read && text == "-") else { return [] }
            let whole = text.hasPrefix("/") ? text : "\(folder)/\(text)"
            return [.path(Grant.normalized(whole), purpose)]
        case .secretName: return value.string.map { [.secret(SecretName($0))] } ?? []
        case .array(let element): return (value.array ?? []).flatMap { element.requests(in: $0, from: folder) }
        case .map(let element): return (value.object ?? [:]).flatMap { element.requests(in: $1, from: folder) }
        case .record(let properties):
            return properties.flatMap { property in
                value[property.name].map { property.schema.requests(in: $0, from: folder) } ?? []
            }
        case .optional(let inner): return inner.requests(in: value, from: folder)
        case .any, .boolean, .integer, .number, .string, .choice, .url, .host, .duration, .size, .time, .secret:
            return []
        }
    }
}
