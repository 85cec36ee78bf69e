import Capabilities
import FileKit

/// Walks a tree in the order of names, each folder before its entries. Links are reported and not followed, so that the
/// walk ends and stays inside.
struct TreeWalk: Sendable {
    /// The maximum number of entries that are read from one folder.
    static let largestFolder = 1_000_000

    private struct Frame: Sendable {
        let path: EntryPath
        let listing: Listing
        let scope: IgnoreScope?
        var next = 0
    }

    let start: WalkStart
    private let rules: WalkRules
    private let cancellation: Cancellation
    private var frames: [Frame] = []
    /// The paths that could not be read.
    private(set) var problems = WalkProblems()

    /// Starts in a folder, with the rules of the folders above it.
    init(_ start: WalkStart, _ rules: WalkRules, _ cancellation: Cancellation) throws {
        self.start = start
        self.rules = rules
        self.cancellation = cancellation
        try enter(start.prefix, within: rules.ignored ? nil : start.scope)
    }

    /// The next entry; nil at the end.
    mutating func next() throws -> TreeEntry? {
        while let last = frames.indices.last {
            try cancellation.check()
            guard frames[last].next < frames[last].listing.items.count else {
                frames.removeLast()
                continue
            }
            let item = frames[last].listing.items[frames[last].next]
            frames[last].next += 1
            if let entry = try visit(item, in: last) { return entry }
        }
        return nil
    }

    private mutating func visit(_ item: Listing.Item, in last: Int) throws -> TreeEntry? {
        let name = frames[last].listing.name(item)
        if name.first == Byte.dot, !rules.hidden || (!rules.denied && name.elementsEqual(".git".utf8)) { return nil }
        // git names the files there by hashes, which no rule matches.
        if rules.denied, name.elementsEqual("objects".utf8),
            frames[last].path.parts.last?.elementsEqual(".git".utf8) == true
        {
            return nil
        }
        let path = frames[last].path.appending(name)
        let nameStart = path.bytes.count - name.count
        var kind = item.kind
        if kind == .unknown {
            do { kind = try start.folder.status(start.inside(path)).kind } catch { problems.add(error) }
        }
        if !rules.denied, start.denies(path) {
            problems.add(WorkspaceError(denied: path))
            return nil
        }
        let scope = frames[last].scope
        if scope?.ignores(path.bytes, nameStart: nameStart, isFolder: kind == .directory) == true { return nil }
        let entry = TreeEntry(path: path, nameStart: nameStart, kind: kind, depth: frames.count)
        if kind == .directory, frames.count < rules.depth {
            do { try enter(path, within: scope) } catch let error as WorkspaceError { problems.add(error) }
        }
        return entry
    }

    private mutating func enter(_ path: EntryPath, within scope: IgnoreScope?) throws {
        let descriptor = try start.folder.folder(start.inside(path))
        let listing = try Listing(of: descriptor, limit: Self.largestFolder, cancellation: cancellation)
        if listing.isCut {
            problems.add(WorkspaceError(.system, "\(path.shown) has more than \(Self.largestFolder) entries"))
        }
        var scope = scope
        // The first folder has its own rules already.
        if !rules.ignored, !frames.isEmpty, listing.contains(".gitignore") {
            scope = start.folder.scope(at: start.inside(path), base: path.lengthWithSlash, within: scope)
        }
        frames.append(Frame(path: path, listing: listing, scope: scope))
    }
}

/// An entry of a walk.
struct TreeEntry: Sendable {
    /// Relative to the workspace.
    let path: EntryPath
    let nameStart: Int
    let kind: FileInfo.Kind
    /// 1 for the entries of the first folder.
    let depth: Int
}

/// What a walk includes.
struct WalkRules: Sendable {
    /// Names that begin with a dot. `.git` is never entered.
    var hidden = false
    /// Paths that `.gitignore` files exclude.
    var ignored = false
    /// Paths that rules deny to tools, and the contents of `.git`.
    var denied = false
    var depth = Int.max
}

/// The folder where a walk starts.
struct WalkStart: Sendable {
    let folder: Folder
    /// The requested path of the folder. All paths of the walk begin with it.
    let prefix: EntryPath
    /// The denied paths in it, and its location.
    let denied: DeniedGlobs
    let location: [UInt8]
    /// Its rules, on top of those of the folders above it.
    let scope: IgnoreScope?

    init(_ path: EntryPath, in workspace: Workspace) throws {
        folder = try workspace.folder(path)
        (denied, location) = (workspace.denied, workspace.denied.isEmpty ? [] : folder.location)
        let parts = path.parts
        prefix = EntryPath(bytes: Array(parts.joined(separator: [Byte.slash])))
        var scope: IgnoreScope?
        // The folders above are found by name, which does not work if a name is `..` or a link.
        if Self.isPlain(parts), (try? workspace.root.folder(prefix)) != nil {
            scope = workspace.root.repositoryScope()
            var above = EntryPath.here
            for part in parts {
                scope = workspace.root.scope(at: above, base: above.lengthWithSlash, within: scope)
                above = above.appending(part)
            }
        }
        self.scope = folder.scope(at: .here, base: prefix.lengthWithSlash, within: scope)
    }

    private static func isPlain(_ parts: [ArraySlice<UInt8>]) -> Bool {
        !parts.contains { $0.elementsEqual([Byte.dot, Byte.dot]) }
    }

    /// Whether a rule denies a path of the walk.
    func denies(_ path: EntryPath, isWriting: Bool = false) -> Bool {
        !denied.isEmpty
            && denied.covers(
                AbsolutePath(bytes: location + [Byte.slash] + inside(path).bytes), isWriting: isWriting)
    }

    /// A path of the walk, relative to the first folder.
    func inside(_ path: EntryPath) -> EntryPath {
        prefix.bytes.isEmpty ? path : EntryPath(bytes: Array(path.bytes.dropFirst(prefix.lengthWithSlash)))
    }
}

/// The paths that a walk could not read: their number, and the first errors.
struct WalkProblems: Sendable {
    private(set) var count = 0
    private(set) var examples: [String] = []

    mutating func add(_ error: WorkspaceError) {
        // An entry that is removed during a walk is not a problem.
        guard error.kind != .notFound else { return }
        count += 1
        if examples.count < 3 { examples.append(error.message) }
    }

    mutating func add(_ other: WalkProblems) {
        count += other.count
        examples += other.examples.prefix(max(0, 3 - examples.count))
    }

    /// The note for a result; nil if there are no problems.
    var note: String? {
        guard count > 0 else { return nil }
        let rest = count - examples.count
        return "skipped: " + examples.joined(separator: "; ") + (rest > 0 ? "; and \(rest) more" : "")
    }
}
