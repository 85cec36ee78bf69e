import JSON

/// "search for "time limit" in Sources".
struct FindText: RepeatableIntention {
    private static let mostShown = 50

    private var subject: String
    private var scope: Scope

    init?(_ clause: Clause) {
        guard Vocabulary.find.contains(clause.verb) || Self.asksWhere(clause) else { return nil }
        let (scope, end) = clause.scope
        var start = clause.head + 1
        if let marker = clause.index(
            of: ["for", "contains", "contain", "mention", "mentions", "say", "says"], from: start),
            marker < end
        {
            start = marker + 1
        }
        let empty = Vocabulary.articles.union([
            "text", "word", "string", "words", "phrase", "occurrences", "occurrence", "of", "lines", "with", "is",
            "are",
            "where", "places", "which", "contain", "mention", "containing", "mentioning", "me", "for", "term",
        ])
        guard start < end, let subject = clause.subject(start..<end, dropping: empty) else { return nil }
        self.subject = subject
        self.scope = scope
    }

    /// "where does it say X", "which files mention X"
    private static func asksWhere(_ clause: Clause) -> Bool {
        ["where", "which", "what"].contains(clause.verb)
            && clause.contains(["contains", "contain", "mention", "mentions", "say", "says"])
    }

    func continued(_ change: Continuation) -> FindText? {
        var other = self
        if let scope = change.scope { other.scope = scope }
        if let subject = change.subject { other.subject = subject }
        return other
    }

    var words: String { "search for \(Markdown.code(subject, limit: 80))\(scope.words)" }

    func carryOut(at desk: inout Desk) throws(Stop) {
        var input: JSONObject = ["pattern": .string(subject), "literal": true, "limit": 200]
        for (name, value) in scope.input { input[name] = value }
        // A lower-case subject matches any case.
        if subject == subject.lowercased() { input["ignore_case"] = true }
        let result = try desk.content(.search, input)
        let hits = Hit.all(in: result)
        let shown = Markdown.code(subject, limit: 80)
        guard !hits.isEmpty else { return desk.say("No line\(scope.words) contains \(shown).") }
        let files = Set(hits.map(\.path)).count
        desk.say(
            """
            \(shown) occurs in **\(Markdown.count(hits.count, "line"))**\(scope.words), in \
            \(Markdown.count(files, "file")):
            """)
        HitList.say(hits, most: Self.mostShown, result, at: &desk)
    }
}

/// "where is Parser used?", "who calls run()?", "where is Parser defined?"
struct FindUsages: RepeatableIntention {
    private static let mostShown = 200
    private static let used: Set<String> = ["used", "called", "referenced", "invoked", "imported", "mentioned"]
    private static let uses: Set<String> = ["uses", "calls", "references", "invokes", "imports"]
    private static let usages: Set<String> = [
        "usages", "uses", "usage", "references", "callers", "calls", "definition",
    ]
    private static let defined: Set<String> = ["defined", "declared", "implemented", "definition", "declaration"]
    private static let kinds: Set<String> = Vocabulary.articles.union([
        "is", "are", "was", "does", "do", "gets", "get", "being", "function", "method", "class", "struct", "symbol",
        "type",
        "variable", "constant", "protocol", "module", "name", "where", "who", "what", "which",
    ])

    private var symbol: String
    private var scope: Scope
    private let onlyDefinition: Bool

    init?(_ clause: Clause) {
        let (scope, end) = clause.scope
        guard let range = Self.range(clause, end), range.lowerBound < range.upperBound,
            var symbol = clause.subject(range, dropping: Self.kinds)
        else { return nil }
        if symbol.hasSuffix("()") { symbol.removeLast(2) }
        guard !symbol.isEmpty, !symbol.contains(where: \.isWhitespace) else { return nil }
        self.symbol = symbol
        self.scope = scope
        onlyDefinition = clause.contains(Self.defined)
    }

    /// The tokens that contain the symbol.
    private static func range(_ clause: Clause, _ end: Int) -> Range<Int>? {
        let start = clause.head
        if ["where", "is", "are"].contains(clause.verb) || clause.verb == "find" && clause.contains(["where"]),
            let verb = clause.index(of: used.union(defined), from: start + 1), verb <= end
        {
            return (start + 1)..<verb
        }
        if ["who", "what", "which"].contains(clause.verb), let verb = clause.index(of: uses, from: start + 1),
            verb < end
        {
            return (verb + 1)..<end
        }
        if let noun = clause.index(of: usages, from: start), let of = clause.index(of: ["of", "to"], from: noun),
            of < end,
            of == noun + 1
        {
            return (of + 1)..<end
        }
        return nil
    }

    func continued(_ change: Continuation) -> FindUsages? {
        var other = self
        if let scope = change.scope { other.scope = scope }
        if let subject = change.subject { other.symbol = subject }
        return other
    }

    var words: String {
        "find where \(Markdown.code(symbol, limit: 80)) is \(onlyDefinition ? "defined" : "used")\(scope.words)"
    }

    func carryOut(at desk: inout Desk) throws(Stop) {
        var input: JSONObject = ["pattern": .string(pattern), "limit": 300]
        for (name, value) in scope.input { input[name] = value }
        let result = try desk.content(.search, input)
        let hits = Hit.all(in: result)
        let definitions = hits.filter { Self.defines(symbol, $0.text) }
        let others = onlyDefinition ? [] : hits.filter { !Self.defines(symbol, $0.text) }
        let shown = Markdown.code(symbol, limit: 80)
        guard !hits.isEmpty else { return desk.say("\(shown) does not occur anywhere\(scope.words).") }
        if definitions.isEmpty {
            desk.say("I found no line\(scope.words) that looks like the definition of \(shown).")
        } else {
            desk.say("\(shown) is defined here:")
            desk.say(HitList.text(definitions, most: Self.mostShown))
        }
        guard !onlyDefinition else { return }
        guard !others.isEmpty else { return desk.say("It is used nowhere else\(scope.words).") }
        let files = Set(others.map(\.path)).count
        desk.say("It is used in **\(Markdown.count(others.count, "line"))** of \(Markdown.count(files, "file")):")
        HitList.say(others, most: Self.mostShown, result, at: &desk)
    }

    /// Matches the symbol as a whole word, if it starts and ends with letters.
    private var pattern: String {
        func isWord(_ character: Character?) -> Bool {
            character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
        }
        var escaped = ""
        for character in symbol {
            if character.isASCII, !isWord(character) { escaped += "\\" }
            escaped.append(character)
        }
        return (isWord(symbol.first) ? "\\b" : "") + escaped + (isWord(symbol.last) ? "\\b" : "")
    }

    /// Whether a line looks like a definition of the symbol, in any of the common languages.
    static func defines(_ symbol: String, _ line: String) -> Bool {
        let keywords: Set<Substring> = [
            "func", "class", "struct", "enum", "protocol", "actor", "extension", "typealias", "let", "var", "def", "fn",
            "function", "const", "type", "interface", "trait", "mod", "module", "case", "static", "impl", "record",
        ]
        let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        guard let place = words.firstIndex(where: { $0 == symbol }), place > words.startIndex else { return false }
        return keywords.contains(words[place - 1])
    }
}

/// "list the Swift files", "find files named main.swift", "how many *.md files are there?"
struct ListFiles: RepeatableIntention {
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

    var words: String { "list the files matching \(Markdown.code(pattern))\(Scope(path: path).words)" }

    func carryOut(at desk: inout Desk) throws(Stop) {
        var input: JSONObject = ["pattern": .string(pattern), "limit": 1000]
        if let path { input["path"] = .string(path) }
        let listing = Listing(files: try desk.content(.glob, input))
        let place = Scope(path: path).words
        guard !listing.files.isEmpty else { return desk.say("No file\(place) matches \(Markdown.code(pattern)).") }
        let number = Markdown.count(listing.total, "file")
        desk.say("**\(number)** matching \(Markdown.code(pattern))\(place):")
        let shown = listing.files.sorted().prefix(Self.mostShown)
        desk.say(shown.map { "- \(Markdown.code($0))" }.joined(separator: "\n"))
        if listing.total > shown.count { desk.say("and \(listing.total - shown.count) more, not shown.") }
    }
}
