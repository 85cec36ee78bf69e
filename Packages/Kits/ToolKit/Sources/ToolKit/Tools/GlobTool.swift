import Capabilities
import FileKit

/// `glob`
struct GlobTool: FileTool {
    private static let usualLimit = 100

    let name = "glob"
    let summary = """
        Finds files by a pattern for their paths, the last changed first. * and ? stay within a name, ** as a whole part \
        passes any folders, [a-z] is one of these, {a,b} either: **/*.swift, src/*.{c,h}. What .gitignore leaves out is \
        not found.
        """
    let properties: [Schema.Property] = [
        Schema.Property("pattern", "The pattern, relative to the folder that is searched", .string),
        .path("The folder to search (default: the working folder)"),
        .optional("limit", "How many files to give (default: 100)", .integer(1...10_000)),
        .hidden, .ignored,
    ]

    func run(_ input: ToolInput, in workspace: Workspace) async throws -> String {
        let path = try input.path
        let pattern = try PathPattern(input.text("pattern"))
        let rules = WalkRules(hidden: input.flag("hidden") || pattern.namesHidden, ignored: input.flag("ignored"))
        let limit = input.number("limit") ?? Self.usualLimit
        return try await workspace.work { cancellation in
            let start = try WalkStart(path, in: workspace)
            var walk = try TreeWalk(start, rules, cancellation)
            var newest = Newest(limit: limit)
            while let entry = try walk.next() {
                guard entry.kind != .directory, pattern.matches(entry.path.bytes, from: start.prefix.lengthWithSlash),
                    // A file that was removed after it was listed is skipped.
                    let status = try? start.folder.status(start.inside(entry.path))
                else { continue }
                newest.add(entry.path, status.modified)
            }
            return Self.answer(newest, walk.problems)
        }
    }

    private static func answer(_ newest: Newest, _ problems: WalkProblems) -> String {
        var answer = Answer()
        let paths = newest.paths
        for path in paths { answer.add(path.shown) }
        if newest.count == 0 { answer.note("no file matches the pattern") }
        if newest.count > paths.count || answer.isFull {
            answer.note("\(newest.count) files fit, of which the last changed are shown; use a narrower pattern")
        }
        answer.note(problems.note)
        return answer.whole
    }
}

/// Keeps the most recently changed files out of any number.
struct Newest {
    let limit: Int
    private(set) var count = 0
    private var found: [(path: EntryPath, time: Timestamp)] = []

    init(limit: Int) {
        self.limit = limit
    }

    mutating func add(_ path: EntryPath, _ time: Timestamp) {
        count += 1
        found.append((path, time))
        if found.count >= limit * 2 + 1000 { sort() }
    }

    var paths: [EntryPath] {
        var sorted = self
        sorted.sort()
        return sorted.found.map(\.path)
    }

    private mutating func sort() {
        found.sort { left, right in
            left.time == right.time
                ? left.path.bytes.lexicographicallyPrecedes(right.path.bytes) : left.time > right.time
        }
        if found.count > limit { found.removeLast(found.count - limit) }
    }
}
