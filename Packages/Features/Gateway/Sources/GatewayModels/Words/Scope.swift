import JSON

/// Where something is looked for.
struct Scope: Hashable {
    /// A file or folder; all of the project when nil.
    var path: String?
    /// Which files.
    var glob: String?

    /// As it is given to a tool.
    var input: JSONObject {
        var input = JSONObject()
        if let path { input["path"] = .string(path) }
        if let glob { input["glob"] = .string(glob) }
        return input
    }

    /// Behind a sentence: " in `Sources`".
    var words: String {
        let files = glob.map { " in files like \(Markdown.code($0))" } ?? ""
        return (path.map { " in \(Markdown.code($0))" } ?? "") + files
    }
}

extension Clause {
    /// Where it says to look, and where that begins among its tokens.
    var scope: (scope: Scope, start: Int) {
        var scope = Scope()
        var start = tokens.count
        for index in tokens.indices where index + 1 < tokens.count {
            guard isLanguage(at: index) else { continue }
            scope.glob = Vocabulary.languages[tokens[index].lower]
            start = min(start, index)
        }
        if let pattern = tokens.indices.first(where: { tokens[$0].kind != .mark && tokens[$0].text.hasPrefix("*.") }) {
            scope.glob = tokens[pattern].text
            start = min(start, pattern)
        }
        // The last "in" is the one that names a place: "search for the word in in Sources".
        for index in tokens.indices.reversed() where Vocabulary.places.contains(tokens[index].lower) {
            guard let place = place(behind: index) else { continue }
            if case .path(let path) = place { scope.path = path }
            return (scope, min(start, index))
        }
        if let index = index(of: ["everywhere"]) { start = min(start, index) }
        return (scope, start)
    }

    enum Named {
        case whole
        case path(String)
    }

    /// The place named behind a word such as "in", or nil when it is none.
    func place(behind index: Int) -> Named? {
        for next in (index + 1)..<max(index + 1, tokens.count) {
            let token = tokens[next]
            if token.kind == .quoted { return .path(token.text) }
            guard token.kind == .word else { return nil }
            if Vocabulary.articles.contains(token.lower) || ["file", "folder", "directory"].contains(token.lower) {
                continue
            }
            let isKindOfFile = token.text.hasPrefix("*.") || isLanguage(at: next)
            if isKindOfFile || Vocabulary.whole.contains(token.text) { return .whole }
            return .path(Place(token.text)?.path ?? token.text)
        }
        return .whole
    }

    /// "Swift files"
    private func isLanguage(at index: Int) -> Bool {
        Vocabulary.languages[tokens[index].lower] != nil && index + 1 < tokens.count
            && ["files", "file", "code", "sources"].contains(tokens[index + 1].lower)
    }
}
