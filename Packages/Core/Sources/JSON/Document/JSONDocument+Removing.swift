extension JSONDocument {
    /// The text without the element or member at a path, its comma and the comment behind it on its line; the same
    /// text where there is none, or where the path is empty.
    public func removing(_ path: [String]) -> String {
        var edits = JSONEdits()
        if let name = path.last, let parent = root.flatMap({ Self.find(path.dropLast(), in: $0) }),
            let index = parent.index(of: name)
        {
            remove(index, of: parent.items, lines, &edits)
        }
        return edits.applied(to: text)
    }

    private func remove(_ index: Int, of items: [JSONSyntax.Item], _ lines: JSONLines, _ edits: inout JSONEdits) {
        let item = items[index]
        // Without a comma of its own the item is the last, and the comma before it has nothing left to part.
        if item.comma == nil, index > 0, let comma = items[index - 1].comma {
            edits.replace(comma..<comma + 1, with: "")
        }
        let end = item.comma.map { $0 + 1 } ?? item.end
        let (commentsEnd, endsLine) = lines.skipComments(from: end)
        let lineEnd = lines.skipBlanks(from: commentsEnd)
        let isLastOfLine = endsLine || lines.skipBreak(at: lineEnd) != nil
        guard isLastOfLine else {
            let blanks =
                item.comma == nil
                ? lines.skipBlanks(before: item.start)..<end : item.start..<lines.skipBlanks(from: end)
            edits.replace(blanks, with: "")
            return
        }
        if lines.startsLine(item.start), let next = lines.skipBreak(at: lineEnd) {
            edits.replace(lines.start(ofLineAt: item.start)..<next, with: "")
        } else {
            edits.replace(lines.skipBlanks(before: item.start)..<commentsEnd, with: "")
        }
    }
}
