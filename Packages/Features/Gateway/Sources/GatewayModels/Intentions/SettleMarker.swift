/// "mark the TODO in main.swift line 12 as done", "fix the first", "mark it as done".
///
/// Marking is literal: the word TODO becomes DONE. Fixing does what the TODO itself says, where that is a replacement that
/// the planner understands; it cannot write code, and says so.
struct SettleMarker: Previewing {
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

    /// Whether it says "it" only.
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
                "I see no TODO or FIXME in \(Markdown.code("\(path):\(number)")); say **find the TODOs** again.")
        }
        if isFix, let order = line.order {
            desk.say("The TODO in \(Markdown.code("\(path):\(line.number)")) says itself what to do, so I do it.")
            return try follow(order, line, lines, in: path, at: &desk)
        }
        guard let block = lines.block(around: line.number) else {
            throw .impossible(
                "The lines around \(Markdown.code("\(path):\(line.number)")) repeat so that I cannot tell them apart.")
        }
        let changed = block.map { $0 == line.number ? line.done : lines[$0] ?? "" }.joined(separator: "\n")
        if isFix {
            desk.say(
                """
                \(Markdown.code("\(path):\(line.number)")) says \(Markdown.code(line.text)). I have no weights and cannot \
                write the code that it asks for. What I can do is to mark it as done, once it is:
                """)
        }
        try desk.edit(path, [(lines.text(block), changed)], isPreview: isFix)
    }

    /// Takes a TODO away and does what it says, in one edit: the replacement would else reach the TODO's own words.
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

    /// Where it is, with the text that is expected there.
    private func locate(at desk: inout Desk) throws(Stop) -> (path: String, line: Int, text: String?) {
        switch target {
        case .place(let place): return (place.path, place.lines?.lowerBound ?? 1, nil)
        case .ordinal(let ordinal, let search):
            // What was listed before is what "the first" means, unless another place is named.
            let isListed = search.scope == Scope() && !desk.markers.isEmpty
            let hits = isListed ? desk.markers : try search.search(at: &desk)
            guard let hit = ordinal.pick(from: hits) else {
                throw .impossible(
                    hits.isEmpty
                        ? "There is no TODO\(search.scope.words)."
                        : "There are only \(hits.count), so I cannot take the \(ordinal.words).")
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
