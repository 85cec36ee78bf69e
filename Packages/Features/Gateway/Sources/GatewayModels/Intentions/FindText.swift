import JSON

/// "search for "time limit" in Sources".
struct FindText: Continuing {
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
        // Who writes all in small letters mostly does not mean only those.
        if subject == subject.lowercased() { input["ignore_case"] = true }
        let result = try desk.content(.search, input)
        let hits = Hit.all(in: result)
        let shown = Markdown.code(subject, limit: 80)
        guard !hits.isEmpty else { return desk.say("No line has \(shown)\(scope.words).") }
        let files = Set(hits.map(\.path)).count
        desk.say(
            """
            \(shown) stands in **\(Markdown.count(hits.count, "line"))**\(scope.words), in \
            \(Markdown.count(files, "file")):
            """)
        HitList.say(hits, most: Self.mostShown, result, at: &desk)
    }
}
