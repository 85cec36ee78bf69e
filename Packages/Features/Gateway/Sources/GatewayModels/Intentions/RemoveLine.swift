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
        guard range.count <= 100 else { throw .impossible("I remove 100 lines at most at a time.") }
        let lines = try desk.lines(of: path, around: range.lowerBound)
        guard let edit = lines.removing(range) else {
            throw .impossible(
                "\(Markdown.code(path)) has no such lines, or they repeat so that I cannot tell them apart.")
        }
        try desk.edit(path, [edit], isPreview: false)
    }
}

extension FileLines {
    /// The edit that takes lines away, with a line beside them, which goes into the edit to make the block whole.
    func removing(_ range: ClosedRange<Int>) -> (old: String, new: String)? {
        guard self[range.lowerBound] != nil, self[range.upperBound] != nil,
            let first = block(around: range.lowerBound), let last = block(around: range.upperBound)
        else { return nil }
        var block = min(first.lowerBound, range.lowerBound)...max(last.upperBound, range.upperBound)
        // Without a neighbour the line break of the removed line would stay.
        if block.lowerBound == range.lowerBound, block.lowerBound > self.first {
            block = (block.lowerBound - 1)...block.upperBound
        } else if block == range, block.upperBound < self.last {
            block = block.lowerBound...(block.upperBound + 1)
        }
        let kept = block.filter { !range.contains($0) }.compactMap { self[$0] }
        // At the very beginning the break that follows goes with the lines.
        return (text(block), kept.joined(separator: "\n"))
    }
}
