import JSON

/// "list the Swift files", "find files named main.swift", "how many *.md files are there?"
struct ListFiles: Continuing {
    private static let mostShown = 100

    private let pattern: String
    private var path: String?

    init?(_ clause: Clause) {
        let verbs = Vocabulary.find.union(Vocabulary.show).union(Vocabulary.ask)
        guard verbs.contains(clause.verb), clause.contains(["files", "file", "sources"]),
            !clause.contains(["contain", "contains", "mention", "mentions", "containing", "mentioning"])
        else { return nil }
        let scope = clause.scope.scope
        if let named = clause.index(of: ["named", "called", "matching", "like"]), named + 1 < clause.tokens.count {
            pattern = "**/\(clause.tokens[named + 1].text)"
        } else if let glob = scope.glob {
            pattern = "**/\(glob)"
        } else {
            return nil
        }
        path = scope.path
    }

    func continued(_ change: Continuation) -> ListFiles? {
        var other = self
        other.path = change.scope?.path ?? change.subject
        return other
    }

    var words: String { "list the files like \(Markdown.code(pattern))\(Scope(path: path).words)" }

    func carryOut(at desk: inout Desk) throws(Stop) {
        var input: JSONObject = ["pattern": .string(pattern), "limit": 1000]
        if let path { input["path"] = .string(path) }
        let listing = Listing(files: try desk.content(.glob, input))
        let place = Scope(path: path).words
        guard !listing.files.isEmpty else { return desk.say("No file is like \(Markdown.code(pattern))\(place).") }
        let number = Markdown.count(listing.total, "file")
        desk.say("**\(number)** like \(Markdown.code(pattern))\(place):")
        let shown = listing.files.sorted().prefix(Self.mostShown)
        desk.say(shown.map { "- \(Markdown.code($0))" }.joined(separator: "\n"))
        if listing.total > shown.count { desk.say("and \(listing.total - shown.count) more, which I leave out.") }
    }
}
