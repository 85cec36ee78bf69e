import JSON

/// "find the TODOs", "list the FIXMEs in Sources".
struct FindMarkers: RepeatableIntention {
    private static let mostShown = 200

    /// The words to find, such as TODO.
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
        // "show the first TODO" means that one.
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

    /// Matches only capitals, so that "todos" in prose is not a marker.
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

    /// The matching lines; from now on "the first" refers to them.
    func search(at desk: inout Desk) throws(Stop) -> [Hit] {
        var input: JSONObject = ["pattern": .string(pattern), "limit": 500]
        for (name, value) in scope.input { input[name] = value }
        let hits = Hit.all(in: try desk.content(.search, input))
        desk.markers = hits
        return hits
    }
}

/// "mark the TODO in main.swift line 12 as done", "fix the first", "mark it as done".
///
/// Marking is literal: the word TODO becomes DONE. Fixing does what the TODO says, if that is a replacement that the
/// planner understands; otherwise it says that it cannot write code.
struct SettleMarker: PreviewableIntention {
    private enum Target {
        case place(Place)
        case ordinal(Ordinal, FindMarkers)
        case only
    }

    private let target: Target
    private var isFix: Bool

    init?(_ clause: Clause) {
        guard Vocabulary.settle.contains(clause.verb) else { return nil }
        let names = !clause.markers.isEmpty
        let scope = clause.scope.scope
        let lines = clause.lines
        if let place = clause.places.first, let line = place.lines ?? lines {
            target = .place(Place(path: place.path, lines: line))
        } else if let ordinal = clause.ordinal {
            var search = FindMarkers(scope)
            if names, clause.markers != ["TODO"] { search.markers = clause.markers }
            target = .ordinal(ordinal, search)
        } else if names, let path = scope.path ?? clause.places.first?.path {
            target = .ordinal(.nth(1), FindMarkers(Scope(path: path)))
        } else if names || clause.contains(["it", "that", "this"]), clause.tokens.count < 8 {
            target = .only
        } else {
            return nil
        }
        isFix = clause.verb == "fix"
    }

    /// Whether it only says "it".
    var namesNone: Bool { if case .only = target { true } else { false } }

    var applied: SettleMarker {
        var other = self
        other.isFix = false
        return other
    }

    var words: String {
        let which =
            switch target {
            case .place(let place): "the TODO in \(Markdown.code("\(place.path):\(place.lines?.lowerBound ?? 1)"))"
            case .ordinal(let ordinal, let search): "the \(ordinal.words) TODO\(search.scope.words)"
            case .only: "the TODO"
            }
        return isFix ? "fix \(which)" : "mark \(which) as done"
    }

    func carryOut(at desk: inout Desk) throws(Stop) {
        guard desk.offers(.edit) else { throw .lacks(.edit) }
        let (path, number, expected) = try locate(at: &desk)
        let lines = try desk.lines(of: path, around: number)
        guard let line = MarkerLine(lines, number, expected) else {
            throw .impossible(
                "There is no TODO or FIXME at \(Markdown.code("\(path):\(number)")); say **find the TODOs** again.")
        }
        if isFix, let order = line.order {
            desk.say("The TODO at \(Markdown.code("\(path):\(line.number)")) says what to do, so I do it.")
            return try follow(order, line, lines, in: path, at: &desk)
        }
        guard let block = lines.block(around: line.number) else {
            throw .impossible(
                "The lines around \(Markdown.code("\(path):\(line.number)")) repeat and I cannot tell them apart.")
        }
        let changed = block.map { $0 == line.number ? line.done : lines[$0] ?? "" }.joined(separator: "\n")
        if isFix {
            desk.say(
                """
                \(Markdown.code("\(path):\(line.number)")) says \(Markdown.code(line.text)). I am not a language model and \
                cannot write the code that it asks for. Once it is done, I can mark it as done:
                """)
        }
        try desk.edit(path, [(lines.text(block), changed)], isPreview: isFix)
    }

    /// Removes a TODO and does what it says in one edit. Otherwise the replacement would also change the TODO itself.
    private func follow(
        _ order: Replace, _ line: MarkerLine, _ lines: FileLines, in path: String, at desk: inout Desk
    ) throws(Stop) {
        var edits: [(old: String, new: String)] = []
        if line.isAlone, let edit = lines.removing(line.number...line.number) {
            edits.append(edit)
        } else if let block = lines.block(around: line.number) {
            let changed = block.map { $0 == line.number ? line.rest : lines[$0] ?? "" }.joined(separator: "\n")
            edits.append((lines.text(block), changed))
        }
        edits.append((order.old, order.new))
        try desk.edit(path, edits, everywhere: true, isPreview: false)
    }

    /// The place of the marker, with the expected text.
    private func locate(at desk: inout Desk) throws(Stop) -> (path: String, line: Int, text: String?) {
        switch target {
        case .place(let place): return (place.path, place.lines?.lowerBound ?? 1, nil)
        case .ordinal(let ordinal, let search):
            // "The first" refers to the last list, unless another place is named.
            let isListed = search.scope == Scope() && !desk.markers.isEmpty
            let hits = isListed ? desk.markers : try search.search(at: &desk)
            guard let hit = ordinal.pick(from: hits) else {
                throw .impossible(
                    hits.isEmpty
                        ? "There is no TODO\(search.scope.words)."
                        : "There are only \(hits.count), so there is no \(ordinal.words).")
            }
            return (hit.path, hit.line, hit.text)
        case .only:
            let hits = desk.markers.isEmpty ? try FindMarkers().search(at: &desk) : desk.markers
            guard hits.count == 1, let hit = hits.first else {
                let question =
                    hits.isEmpty
                    ? "There is no TODO here." : "Which one do you mean? Say **the first**, or name file and line:"
                let list = hits.isEmpty ? "" : "\n\n" + HitList.text(hits, most: 20)
                throw .impossible(question + list)
            }
            return (hit.path, hit.line, hit.text)
        }
    }
}

/// A line with a TODO in it.
struct MarkerLine {
    let number: Int
    let text: String
    private let range: Range<String.Index>

    /// Nil if there is no marker in that line. If the file has changed since the search, it takes the line that has the
    /// expected text now, if there is only one.
    init?(_ lines: FileLines, _ number: Int, _ expected: String?) {
        var place = number
        if let expected, lines[number] != expected {
            let others = lines.lines.indices.filter { lines.lines[$0] == expected }
            if others.count == 1 { place = lines.first + others[0] }
        }
        guard let text = lines[place], let range = Self.marker(in: text) else { return nil }
        self.number = place
        self.text = text
        self.range = range
    }

    /// The line with the marker's word replaced.
    var done: String { text.replacing(range, "DONE") }

    /// The replacement that the TODO asks for, if it can be carried out.
    var order: Replace? {
        var words = text[range.upperBound...].drop { $0 == ":" || $0 == " " }
        // "TODO(ada): …"
        if words.first == "(", let end = words.firstIndex(of: ")") {
            words = words[words.index(after: end)...].drop { $0 == ":" || $0 == " " }
        }
        for end in ["*/", "-->"] where words.hasSuffix(end) { words = words.dropLast(end.count) }
        guard let clause = Clause.clauses(of: Tokenizer.tokens(of: String(words))).first,
            let order = Replace(clause), !order.isPreview
        else { return nil }
        return order
    }

    /// Whether the line contains only the comment.
    var isAlone: Bool { rest.allSatisfy(\.isWhitespace) }

    /// The line without the comment.
    var rest: String {
        var before = text[..<range.lowerBound]
        let leaders: Set<Character> = ["/", "#", "-", "*", "<", "!", ";", "%", " ", "\t"]
        while let last = before.last, leaders.contains(last) { before.removeLast() }
        return String(before)
    }

    /// The range of the first marker that is a whole word.
    private static func marker(in text: String) -> Range<String.Index>? {
        var found: Range<String.Index>?
        for marker in ["TODO", "FIXME", "HACK", "XXX"] {
            var start = text.startIndex
            while let range = String(text[start...]).firstRange(of: marker) {
                let rest = String(text[start...])
                let offset = rest.distance(from: rest.startIndex, to: range.lowerBound)
                let first = text.index(start, offsetBy: offset)
                let last = text.index(first, offsetBy: marker.count)
                let before = first > text.startIndex ? text[text.index(before: first)] : " "
                let after = last < text.endIndex ? text[last] : " "
                if !isWord(before), !isWord(after) {
                    if found.map({ first < $0.lowerBound }) ?? true { found = first..<last }
                    break
                }
                start = last
            }
        }
        return found
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}

extension String {
    fileprivate func replacing(_ range: Range<String.Index>, _ other: String) -> String {
        self[..<range.lowerBound] + other + self[range.upperBound...]
    }
}
