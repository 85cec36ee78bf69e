import FileKit

/// Goes through a tree, a folder before what is in it, in the order of the names. Links are shown and not followed, so
/// that it comes to an end and stays inside.
struct TreeWalk: Sendable {
    /// More names than this in one folder are not looked at.
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
    /// What could not be looked at.
    private(set) var problems = WalkProblems()

    /// Begins in a folder, with the rules that those above it have.
    init(_ start: WalkStart, _ rules: WalkRules, _ cancellation: Cancellation) throws {
        self.start = start
        self.rules = rules
        self.cancellation = cancellation
        try enter(start.prefix, within: rules.ignored ? nil : start.scope)
    }

    /// The next entry, or nil at the end.
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
        // What git keeps there is named by numbers, which no rule is about.
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
        // The folder in which the walk begins has brought its own rules.
        if !rules.ignored, !frames.isEmpty, listing.contains(".gitignore") {
            scope = start.folder.scope(at: start.inside(path), base: path.lengthWithSlash, within: scope)
        }
        frames.append(Frame(path: path, listing: listing, scope: scope))
    }
}
