/// "add a line "done" to NOTES.md at the top", "append "x" to FILE", "insert "x" after line 3 of FILE".
struct AddLine: Intention {
    private enum Position { case top, end, before(Int), after(Int) }

    private let text: String
    private let path: String
    private let position: Position

    init?(_ clause: Clause) {
        guard Vocabulary.add.contains(clause.verb) else { return nil }
        let ends: Set<String> = ["to", "in", "into", "at", "after", "before"]
        let quoted = clause.tokens.indices.first { clause.tokens[$0].kind == .quoted }
        let start = quoted ?? clause.index(of: ["line"], from: clause.head).map { $0 + 1 } ?? clause.head + 1
        guard let end = clause.index(of: ends, from: start + 1), let file = clause.file(from: end),
            let text = clause.subject(start..<end, dropping: ["a", "the", "line", "with", "saying"])
        else { return nil }
        self.text = text
        path = file.path
        let place = Clause(Array(clause.tokens[end...]))
        let line = place.lines?.lowerBound ?? file.lines?.lowerBound
        if let line, place.contains(["before", "above"]) {
            position = .before(line)
        } else if let line {
            position = .after(line)
        } else if clause.verb == "prepend" || place.contains(["top", "beginning", "start"]) {
            position = .top
        } else {
            position = .end
        }
    }

    var words: String { "add \(Markdown.code(text, limit: 60)) to \(Markdown.code(path))" }

    func carryOut(at desk: inout Desk) throws(Stop) {
        guard desk.offers(.edit) else { throw .lacks(.edit) }
        let lines: FileLines
        let anchor: Int
        switch position {
        case .top: (lines, anchor) = (try desk.lines(of: path, around: 1), 1)
        case .before(let line), .after(let line): (lines, anchor) = (try desk.lines(of: path, around: line), line)
        case .end:
            lines = try desk.lastLines(of: path)
            anchor = lines.last
        }
        guard !lines.lines.isEmpty else {
            throw .impossible(
                "\(Markdown.code(path)) is empty, so there is nothing to add to: say **create \(path) with …**.")
        }
        guard let block = lines.block(around: anchor) else {
            throw .impossible(
                "\(Markdown.code(path)) has no line \(anchor), or its lines repeat so that I cannot tell them apart.")
        }
        var changed = block.compactMap { lines[$0] }
        let place = anchor - block.lowerBound
        switch position {
        case .top, .before: changed.insert(text, at: place)
        case .end, .after: changed.insert(text, at: place + 1)
        }
        try desk.edit(path, [(lines.text(block), changed.joined(separator: "\n"))], isPreview: false)
    }
}
