import Capabilities
import JSON

/// "create NOTES.md with "…"", "write "…" to NOTES.md", "overwrite NOTES.md with …".
struct CreateFile: Intention {
    private let path: String
    private let content: String
    private let overwrites: Bool

    init?(_ clause: Clause) {
        guard Vocabulary.create.contains(clause.verb) else { return nil }
        let with: Set<String> = ["with", "containing", "saying", "content", "contents"]
        if let start = clause.index(of: with, from: clause.head + 1),
            let file = Clause(Array(clause.tokens[clause.head..<start])).places.first,
            let text = clause.subject(
                (start + 1)..<clause.tokens.count,
                dropping: ["the", "content", "contents", "text", "following", "line"])
        {
            (path, content) = (file.path, text)
        } else if let end = clause.index(of: ["to", "into", "in"], from: clause.head + 1),
            let file = clause.file(from: end),
            let quoted = clause.quoted.first, clause.verb != "make"
        {
            (path, content) = (file.path, quoted)
        } else {
            return nil
        }
        overwrites = clause.verb == "overwrite"
    }

    var words: String { "\(overwrites ? "overwrite" : "create") \(Markdown.code(path))" }

    func carryOut(at desk: inout Desk) throws(Stop) {
        guard desk.offers(.write) else { throw .lacks(.write) }
        if !overwrites {
            // A word like "create" must not overwrite an existing file.
            let there = try desk.ask(.read, ["path": .string(path), "limit": 1])
            guard there.isError else {
                throw .impossible(
                    "\(Markdown.code(path)) already exists. Say **overwrite \(path) with …** to replace it."
                )
            }
        }
        let text = content.last?.isNewline == true ? content : content + "\n"
        let answer = try desk.content(
            .write, ["path": .string(path), "content": .string(text), "create_folders": true])
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        desk.say("I wrote \(Markdown.code(path)), \(Markdown.count(lines, "line")).")
        let report = ToolText(answer)
        if !report.body.isEmpty { desk.say(Markdown.block(report.body, "diff")) }
        if let remark = report.remark { desk.say(remark) }
    }
}

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
                "\(Markdown.code(path)) is empty, so I cannot add to it; say **overwrite \(path) with …**.")
        }
        guard let block = lines.block(around: anchor) else {
            throw .impossible(
                "\(Markdown.code(path)) has no line \(anchor), or its lines repeat and I cannot tell them apart.")
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

/// "remove line 3 of NOTES.md", "delete lines 3 to 5 from NOTES.md".
struct RemoveLine: Intention {
    private let range: ClosedRange<Int>
    private let path: String

    init?(_ clause: Clause) {
        guard Vocabulary.remove.contains(clause.verb), let lines = clause.lines,
            let file = clause.file(from: clause.head)
        else { return nil }
        range = lines
        path = file.path
    }

    var words: String {
        let lines = range.count == 1 ? "line \(range.lowerBound)" : "lines \(range.lowerBound) to \(range.upperBound)"
        return "remove \(lines) of \(Markdown.code(path))"
    }

    func carryOut(at desk: inout Desk) throws(Stop) {
        guard desk.offers(.edit) else { throw .lacks(.edit) }
        guard range.count <= 100 else { throw .impossible("I can remove at most 100 lines at a time.") }
        let lines = try desk.lines(of: path, around: range.lowerBound)
        guard let edit = lines.removing(range) else {
            throw .impossible(
                "\(Markdown.code(path)) has no such lines, or they repeat and I cannot tell them apart.")
        }
        try desk.edit(path, [edit], isPreview: false)
    }
}

/// "replace "helo" by "hello" in README.md", "rename old to new everywhere", "preview replacing …".
struct Replace: PreviewableIntention {
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
        let verb = isPreview ? "preview replacing" : "replace"
        return "\(verb) \(Markdown.code(old, limit: 60)) with \(Markdown.code(new, limit: 60))\(scope.words)"
    }

    func carryOut(at desk: inout Desk) throws(Stop) {
        guard desk.offers(.edit) else { throw .lacks(.edit) }
        for file in try files(at: &desk) {
            try desk.edit(file, [(old, new)], everywhere: true, isPreview: isPreview)
        }
    }

    private func files(at desk: inout Desk) throws(Stop) -> [String] {
        // A named file needs no search.
        if let path = scope.path, let name = path.split(separator: "/").last, !path.hasSuffix("/"), name.contains(".") {
            return [path]
        }
        // The search works line by line.
        let wanted = old.split(whereSeparator: \.isNewline).max { $0.count < $1.count }.map { String($0) } ?? old
        var input: JSONObject = ["pattern": .string(wanted), "literal": true, "limit": 1000]
        for (name, value) in scope.input { input[name] = value }
        var files: [String] = []
        for hit in Hit.all(in: try desk.content(.search, input)) where !files.contains(hit.path) {
            files.append(hit.path)
        }
        guard !files.isEmpty else { throw .impossible("Nothing\(scope.words) contains \(Markdown.code(old)).") }
        guard files.count <= Self.mostFiles else {
            throw .impossible(
                "\(files.count) files contain \(Markdown.code(old)); I change at most \(Self.mostFiles): name a folder."
            )
        }
        return files
    }
}
