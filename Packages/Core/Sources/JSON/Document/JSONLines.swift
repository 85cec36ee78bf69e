/// The lines of a settings file, as far as a change has to fit in with them.
struct JSONLines {
    let text: [UInt8]
    /// What one level of nesting adds to the indentation.
    let indent: String
    /// The first line break of the file, for new ones.
    let lineBreak: String

    init(_ text: [UInt8], _ root: JSONSyntax?) {
        self.text = text
        let end = text.firstIndex { Self.isBreak($0) }
        let isPair = end.map { text[$0...].starts(with: [JSONByte.carriageReturn, JSONByte.lineFeed]) } ?? false
        lineBreak = isPair ? "\r\n" : end.map { text[$0] } == JSONByte.carriageReturn ? "\r" : "\n"
        indent = root.flatMap { Self.indent(in: $0, text) } ?? "  "
    }

    private init(text: [UInt8], indent: String, lineBreak: String) {
        self.text = text
        self.indent = indent
        self.lineBreak = lineBreak
    }

    /// Whether the first item of an array or object stands on a line below the bracket.
    func isBroken(_ node: JSONSyntax) -> Bool {
        let end = node.items.first?.start ?? node.range.upperBound
        return text[node.range.lowerBound..<end].contains(where: Self.isBreak)
    }

    /// The white space that the line around an offset starts with.
    func indentation(at offset: Int) -> String {
        let line = text[start(ofLineAt: offset)...]
        return String(decoding: line.prefix(while: Self.isBlank), as: UTF8.self)
    }

    func start(ofLineAt offset: Int) -> Int {
        text[..<offset].lastIndex(where: Self.isBreak).map { $0 + 1 } ?? 0
    }

    /// Whether only blanks stand between the start of the line and an offset.
    func startsLine(_ offset: Int) -> Bool {
        text[start(ofLineAt: offset)..<offset].allSatisfy(Self.isBlank)
    }

    func skipBlanks(from offset: Int) -> Int {
        text[offset...].firstIndex { !Self.isBlank($0) } ?? text.count
    }

    func skipBlanks(before offset: Int) -> Int {
        text[..<offset].lastIndex { !Self.isBlank($0) }.map { $0 + 1 } ?? 0
    }

    /// The offset after the line break at an offset, or nil where none is.
    func skipBreak(at offset: Int) -> Int? {
        guard offset < text.count, Self.isBreak(text[offset]) else { return nil }
        return offset + (text[offset...].starts(with: [JSONByte.carriageReturn, JSONByte.lineFeed]) ? 2 : 1)
    }

    /// One item a line, below a line that is indented by `base`.
    func style(base: String) -> JSONWriter.Style {
        .lines(indent: indent, lineBreak: lineBreak, base: base)
    }

    private static func indent(in node: JSONSyntax, _ text: [UInt8]) -> String? {
        let lines = JSONLines(text: text, indent: "", lineBreak: "")
        if let first = node.items.first, lines.isBroken(node) {
            let outer = lines.indentation(at: node.range.lowerBound)
            let inner = lines.indentation(at: first.start)
            if inner.hasPrefix(outer), inner != outer { return String(inner.dropFirst(outer.count)) }
        }
        for item in node.items {
            if let indent = indent(in: item.value, text) { return indent }
        }
        return nil
    }

    static func isBreak(_ byte: UInt8) -> Bool {
        byte == JSONByte.lineFeed || byte == JSONByte.carriageReturn
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == JSONByte.space || byte == JSONByte.tab
    }
}

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
