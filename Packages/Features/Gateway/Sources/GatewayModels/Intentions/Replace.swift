import JSON

/// "replace "helo" by "hello" in README.md", "rename old to new everywhere", "preview replacing …".
struct Replace: Previewing {
    private static let mostFiles = 15
    private static let given: Set<String> = ["by", "with", "to", "into"]

    let old: String
    let new: String
    let scope: Scope
    private(set) var isPreview: Bool

    init?(_ clause: Clause) {
        guard let verb = clause.index(of: Vocabulary.replace, from: clause.head),
            verb == clause.head || Vocabulary.propose.union(["show", "what"]).contains(clause.verb)
        else { return nil }
        let (scope, end) = clause.scope
        guard let middle = clause.index(of: Self.given, from: verb + 2), middle < end,
            let old = clause.subject((verb + 1)..<middle, dropping: ["the", "word", "text", "string", "all", "every"]),
            let new = clause.subject((middle + 1)..<end, dropping: []), old != new
        else { return nil }
        self.old = old
        self.new = new
        self.scope = scope
        isPreview = verb != clause.head
    }

    var applied: Replace {
        var other = self
        other.isPreview = false
        return other
    }

    var words: String {
        let verb = isPreview ? "show what it means to replace" : "replace"
        return "\(verb) \(Markdown.code(old, limit: 60)) by \(Markdown.code(new, limit: 60))\(scope.words)"
    }

    func carryOut(at desk: inout Desk) throws(Stop) {
        guard desk.offers(.edit) else { throw .lacks(.edit) }
        for file in try files(at: &desk) {
            try desk.edit(file, [(old, new)], everywhere: true, isPreview: isPreview)
        }
    }

    private func files(at desk: inout Desk) throws(Stop) -> [String] {
        // A file that is named needs no search.
        if let path = scope.path, let name = path.split(separator: "/").last, !path.hasSuffix("/"), name.contains(".") {
            return [path]
        }
        // A search knows lines only.
        let wanted = old.split(whereSeparator: \.isNewline).max { $0.count < $1.count }.map { String($0) } ?? old
        var input: JSONObject = ["pattern": .string(wanted), "literal": true, "limit": 1000]
        for (name, value) in scope.input { input[name] = value }
        var files: [String] = []
        for hit in Hit.all(in: try desk.content(.search, input)) where !files.contains(hit.path) {
            files.append(hit.path)
        }
        guard !files.isEmpty else { throw .impossible("No file\(scope.words) has \(Markdown.code(old)) in it.") }
        guard files.count <= Self.mostFiles else {
            throw .impossible(
                "\(files.count) files have \(Markdown.code(old)) in them, and I change \(Self.mostFiles) at most: name a folder."
            )
        }
        return files
    }
}
