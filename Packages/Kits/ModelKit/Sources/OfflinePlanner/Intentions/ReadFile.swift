import JSON

/// "read README.md", "quote lines 3 to 9 of main.swift", "show the second".
struct ReadFile: RepeatableIntention {
    private enum Target {
        case places([Place])
        case marker(Ordinal)
    }

    private static let usualLines = 200

    private var target: Target
    private let lines: ClosedRange<Int>?

    init?(_ clause: Clause) {
        let verbs = Vocabulary.read.union(Vocabulary.show).union(Vocabulary.summarise).union(["what", "look"])
        guard verbs.contains(clause.verb) else { return nil }
        lines = clause.lines
        let places = clause.places
        if !places.isEmpty {
            target = .places(places)
        } else if let ordinal = clause.ordinal, clause.verb != "what", clause.tokens.count < 8,
            clause.contains(["one", "hit", "match", "result", "it", "line", "place"])
                || clause.tokens.last?.lower != "files"
        {
            target = .marker(ordinal)
        } else if let word = clause.index(of: ["file"]), word + 1 < clause.tokens.count {
            target = .places([Place(path: clause.tokens[word + 1].text)])
        } else {
            return nil
        }
    }

    func continued(_ change: Continuation) -> ReadFile? {
        guard let path = change.scope?.path ?? change.subject else { return nil }
        var other = self
        other.target = .places([Place(path: path)])
        return other
    }

    var words: String {
        switch target {
        case .places(let places): "read \(places.map { Markdown.code($0.path) }.joined(separator: " and "))"
        case .marker(let ordinal): "show the \(ordinal.words) result"
        }
    }

    func carryOut(at desk: inout Desk) throws(Stop) {
        switch target {
        case .places(let places):
            for place in places.prefix(10) { try show(place, place.lines ?? lines, at: &desk) }
        case .marker(let ordinal):
            let hits = desk.markers.isEmpty ? try FindMarkers().search(at: &desk) : desk.markers
            guard let hit = ordinal.pick(from: hits) else {
                throw .impossible("There is no such TODO; I found \(hits.count).")
            }
            try show(Place(path: hit.path), max(1, hit.line - 5)...(hit.line + 5), at: &desk)
        }
    }

    private func show(_ place: Place, _ range: ClosedRange<Int>?, at desk: inout Desk) throws(Stop) {
        var input: JSONObject = ["path": .string(place.path)]
        if let range { input["offset"] = .int(range.lowerBound) }
        input["limit"] = .int(min(range?.count ?? Self.usualLines, 1000))
        let lines = FileLines(try desk.content(.read, input))
        let path = Markdown.code(place.path)
        guard !lines.lines.isEmpty else {
            let notes = lines.notes.joined(separator: "; ")
            return desk.say("\(path): \(notes.isEmpty ? "it is empty" : notes).")
        }
        let rows = lines.first == lines.last ? "line \(lines.first)" : "lines \(lines.first) to \(lines.last)"
        desk.say(range == nil && lines.isWhole ? "\(path):" : "\(path), \(rows):")
        desk.say(Markdown.block(lines.lines.joined(separator: "\n"), Self.language(of: place.path)))
        let notes = lines.notes.filter { range == nil || !$0.contains("go on with offset") }
        if !notes.isEmpty { desk.say("*\(notes.joined(separator: "; "))*") }
    }

    private static func language(of path: String) -> String {
        guard let dot = path.lastIndex(of: "."), let name = path[dot...].dropFirst().first else { return "" }
        let end = path[path.index(after: dot)...].lowercased()
        let known = [
            "py": "python", "rs": "rust", "js": "javascript", "ts": "typescript", "md": "markdown", "sh": "sh",
        ]
        return name.isLetter ? known[end] ?? (end.allSatisfy(\.isLetter) && end.count < 7 ? end : "") : ""
    }
}
