import JSON

/// "find the TODOs", "list the FIXMEs in Sources".
struct FindMarkers: Continuing {
    private static let mostShown = 200

    /// Such as TODO.
    var markers = ["TODO", "FIXME"]
    var scope = Scope()

    init(_ scope: Scope = Scope()) {
        self.scope = scope
    }

    init?(_ clause: Clause) {
        let named = clause.markers
        let verbs = Vocabulary.find.union(Vocabulary.show).union(Vocabulary.ask).union(Vocabulary.read)
            .union(Vocabulary.markers.keys).union(["check", "collect", "open"])
        guard !named.isEmpty, verbs.contains(clause.verb) else { return nil }
        // "show the first TODO" is about that one.
        let isOne = clause.ordinal != nil && !Vocabulary.find.union(Vocabulary.ask).contains(clause.verb)
        guard !isOne else { return nil }
        markers = named == ["TODO"] ? ["TODO", "FIXME"] : named
        scope = clause.scope.scope
        if scope.path == nil, let file = clause.places.first { scope.path = file.path }
    }

    func continued(_ change: Continuation) -> FindMarkers? {
        var other = self
        other.scope = change.scope ?? Scope(path: change.subject)
        return other
    }

    var words: String { "look for \(markers.joined(separator: " and "))\(scope.words)" }

    /// A marker is a word in capitals, so that "todos" in prose is none.
    var pattern: String { "\\b(\(markers.joined(separator: "|")))\\b" }

    static func isPattern(_ pattern: String) -> Bool {
        pattern.hasPrefix("\\b(") && pattern.hasSuffix(")\\b")
            && pattern.dropFirst(3).dropLast(3).split(separator: "|").allSatisfy {
                Vocabulary.markers.values.contains(String($0))
            }
    }

    func carryOut(at desk: inout Desk) throws(Stop) {
        let hits = try search(at: &desk)
        let kinds = markers.joined(separator: " or ")
        guard !hits.isEmpty else { return desk.say("There is no \(kinds)\(scope.words).") }
        let files = Set(hits.map(\.path)).count
        let number = Markdown.count(hits.count, "line")
        desk.say("I found **\(number)** with \(kinds)\(scope.words), in \(Markdown.count(files, "file")):")
        HitList.say(hits, most: Self.mostShown, desk.lastAnswer, at: &desk)
    }

    /// The lines that fit, which "the first" means from now on.
    func search(at desk: inout Desk) throws(Stop) -> [Hit] {
        var input: JSONObject = ["pattern": .string(pattern), "limit": 500]
        for (name, value) in scope.input { input[name] = value }
        let hits = Hit.all(in: try desk.content(.search, input))
        desk.markers = hits
        return hits
    }
}
