extension JSONLines {
    /// The end of the comments that follow on the same line, and whether the last of them ends with its line.
    func skipComments(from offset: Int) -> (end: Int, endsLine: Bool) {
        var end = offset
        while true {
            let start = skipBlanks(from: end)
            let isComment = text[start...].starts(with: "//".utf8) || text[start...].starts(with: "/*".utf8)
            guard isComment else { return (end, false) }
            let comment = skipComment(at: start)
            if comment.endsLine { return comment }
            end = comment.end
        }
    }

    /// The end of the last comment between the brackets of an empty array or object, and whether a line break follows.
    func lastComment(in inside: Range<Int>) -> (end: Int, isClosed: Bool)? {
        var end: Int?
        var place = inside.lowerBound
        while place < inside.upperBound {
            if text[place] == JSONByte.slash {
                (place, _) = skipComment(at: place)
                end = place
            } else {
                place += 1
            }
        }
        return end.map { ($0, text[$0..<inside.upperBound].contains(where: Self.isBreak)) }
    }

    /// The end of the comment that starts at an offset, and whether it ends with its line.
    private func skipComment(at start: Int) -> (end: Int, endsLine: Bool) {
        if text[start + 1] == JSONByte.slash {
            return (text.indices[start...].first(where: endsComment) ?? text.count, true)
        }
        var end = start + 2
        while !text[end...].starts(with: "*/".utf8) { end += 1 }
        return (end + 2, false)
    }

    private func endsComment(_ place: Int) -> Bool {
        let isSeparator =
            text[place...].starts(with: [0xE2, 0x80, 0xA8]) || text[place...].starts(with: [0xE2, 0x80, 0xA9])
        return isSeparator || Self.isBreak(text[place])
    }
}
