/// A settings file: its value, the position of each part, and its text with one part changed.
///
/// A change preserves comments, order, indentation and line endings.
public struct JSONDocument: Sendable {
    /// The name of the file, for messages.
    public let name: String
    /// The parsed value. An empty text is read as `{}`.
    public let value: JSON

    let reading: JSONReading
    let text: [UInt8]
    /// The value with positions, or nil if the text contains only white space and comments.
    private let root: JSONSyntax?

    /// Parses a UTF-8 text.
    public init(parsing text: [UInt8], reading: JSONReading = .json5, name: String) throws(JSONError) {
        self.name = name
        self.reading = reading
        self.text = text
        root = try unsafe text.span.withUnsafeBytes { (buffer) throws(JSONError) in
            var parser = JSON5Parser(try unsafe JSONCursor(buffer, reading), reading)
            return try parser.document()
        }
        let isBlank = text.allSatisfy { JSONByte.isSpace($0) }
        if reading.dialect == .json, !isBlank {
            // The JSON5 parser accepts more than JSON, so the text is also parsed as plain JSON.
            value = try JSON(parsing: text, reading: reading)
        } else {
            value = root?.json ?? [:]
        }
    }

    /// Parses a text.
    public init(parsing text: String, reading: JSONReading = .json5, name: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8), reading: reading, name: name)
    }

    /// The line and the column, counted from 1, of the value at a path.
    public func position(of path: [String]) -> (line: Int, column: Int)? {
        guard let value = root.flatMap({ Self.find(path, in: $0) }) else { return nil }
        return position(at: value.range.lowerBound)
    }

    /// The line and the column, counted from 1, of the last key of a path.
    public func keyPosition(of path: [String]) -> (line: Int, column: Int)? {
        guard let name = path.last, let parent = root.flatMap({ Self.find(path.dropLast(), in: $0) }),
            let index = parent.index(of: name), let key = parent.items[index].key
        else { return nil }
        return position(at: key.range.lowerBound)
    }

    func position(at offset: Int) -> (line: Int, column: Int) {
        unsafe text.span.withUnsafeBytes { buffer in
            let place = unsafe JSONPlace(offset: offset, in: buffer)
            return (place.line, place.column)
        }
    }

    static func find(_ path: some Sequence<String>, in root: JSONSyntax) -> JSONSyntax? {
        var node = root
        for name in path {
            guard let index = node.index(of: name) else { return nil }
            node = node.items[index].value
        }
        return node
    }
}

extension JSONDocument {
    /// A new element or, with a key, a new member.
    struct NewItem {
        let key: String?
        let value: JSON
        let keyStyle: JSONWriter.KeyStyle
    }

    /// Adds an item at the end of an array or object.
    func add(_ item: NewItem, to node: JSONSyntax, isBroken: Bool, _ lines: JSONLines, _ edits: inout JSONEdits) {
        if let last = node.items.last {
            add(item, after: last, in: node, lines, &edits)
        } else {
            add(item, toEmpty: node, isBroken: isBroken, lines, &edits)
        }
    }

    /// Inserts after the last item and the comments on its line. Adds a trailing comma if the last item has one.
    private func add(
        _ item: NewItem, after last: JSONSyntax.Item, in node: JSONSyntax, _ lines: JSONLines, _ edits: inout JSONEdits
    ) {
        if last.comma == nil { edits.insert(",", at: last.end) }
        let (end, endsLine) = lines.skipComments(from: last.comma.map { $0 + 1 } ?? last.end)
        let isBroken = lines.isBroken(node)
        let comma = last.comma == nil ? "" : ","
        guard isBroken || endsLine else {
            edits.insert(" " + written(item, style: .inline) + comma, at: end)
            return
        }
        let base =
            isBroken ? lines.indentation(at: last.start) : lines.indentation(at: node.range.lowerBound) + lines.indent
        edits.insert(lines.lineBreak + base + written(item, style: lines.style(base: base)) + comma, at: end)
    }

    private func add(
        _ item: NewItem, toEmpty node: JSONSyntax, isBroken: Bool, _ lines: JSONLines, _ edits: inout JSONEdits
    ) {
        let inside = node.range.lowerBound + 1..<node.range.upperBound - 1
        let outer = lines.indentation(at: node.range.lowerBound)
        let base = outer + lines.indent
        let ownLine = lines.lineBreak + base + written(item, style: lines.style(base: base))
        if let (end, isClosed) = lines.lastComment(in: inside) {
            edits.insert(ownLine + (isClosed ? "" : lines.lineBreak + outer), at: end)
        } else if isBroken {
            edits.replace(inside, with: ownLine + lines.lineBreak + outer)
        } else {
            edits.replace(inside, with: written(item, style: .inline))
        }
    }

    private func written(_ item: NewItem, style: JSONWriter.Style) -> String {
        written(item.value, style: style, item.keyStyle, key: item.key)
    }
}

extension JSONDocument {
    /// The text without the element or member at a path, its comma and the comment after it on the same line. The text
    /// is unchanged if nothing is at the path, or if the path is empty.
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
        // An item without a comma is the last one, so the comma before it is removed too.
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

extension JSONDocument {
    /// The text with the value at a path replaced or added.
    ///
    /// Missing objects along the path are created. The index after the last element of an array appends. Throws if a
    /// value along the path is not an object or array, or if the result could not be parsed again.
    public func setting(_ path: [String], to value: JSON) throws(JSONError) -> String {
        var edits = JSONEdits()
        if let root {
            try set(path, to: value, in: root, &edits)
        } else {
            append(Self.nest(value, in: path), &edits)
        }
        let result = edits.applied(to: text)
        _ = try JSONDocument(parsing: result, reading: reading, name: name)
        return result
    }

    var lines: JSONLines { JSONLines(text, root) }

    private func append(_ value: JSON, _ edits: inout JSONEdits) {
        // Without a line break, a comment at the end would include the value.
        let isLineOpen = text.last.map { $0 != JSONByte.lineFeed } ?? false
        let start = isLineOpen ? lines.lineBreak : ""
        edits.insert(start + written(value, style: lines.style(base: ""), .quoted) + lines.lineBreak, at: text.count)
    }

    private func set(
        _ path: [String], to value: JSON, in root: JSONSyntax, _ edits: inout JSONEdits
    ) throws(JSONError) {
        let lines = lines
        var node = root
        var isBroken = true
        var keyStyle = JSONWriter.KeyStyle.quoted
        for (depth, name) in path.enumerated() {
            keyStyle = firstKeyStyle(in: node) ?? keyStyle
            guard let index = node.index(of: name) else {
                let isMember = try mayAdd(name, to: node, path: path[..<depth])
                let value = Self.nest(value, in: path[(depth + 1)...])
                let item = NewItem(key: isMember ? name : nil, value: value, keyStyle: keyStyle)
                return add(item, to: node, isBroken: isBroken || lines.isBroken(node), lines, &edits)
            }
            isBroken = lines.isBroken(node)
            node = node.items[index].value
        }
        if node.json == value { return }
        keyStyle = firstKeyStyle(in: node) ?? keyStyle
        let usesLines = isBroken && (node.items.isEmpty || lines.isBroken(node))
        let base = lines.indentation(at: node.range.lowerBound)
        edits.replace(
            node.range, with: written(value, style: usesLines ? lines.style(base: base) : .inline, keyStyle))
    }

    /// Whether the new item is a member. Throws if the node cannot contain an item of this name.
    private func mayAdd(_ name: String, to node: JSONSyntax, path: ArraySlice<String>) throws(JSONError) -> Bool {
        let key = JSON.string(name).text()
        let message: String
        switch node.content {
        case .object: return true
        case .array(let items) where name == String(items.count): return false
        case .array(let items): message = "the array has no place for \(key); its next index is \(items.count)"
        case .scalar(let value): message = "expected an object for the key \(key), found \(value.kindName)"
        }
        let (line, column) = position(at: node.range.lowerBound)
        throw JSONError(
            .type, message, path: Array(path), line: line, column: column, offset: node.range.lowerBound)
    }

    private static func nest(_ value: JSON, in path: some BidirectionalCollection<String>) -> JSON {
        path.reversed().reduce(value) { .object([$1: $0]) }
    }

    /// The style of the first key of an object, or of the first object inside it that has a key.
    private func firstKeyStyle(in node: JSONSyntax) -> JSONWriter.KeyStyle? {
        for item in node.items {
            if let key = item.key {
                switch text[key.range.lowerBound] {
                case JSONByte.quote: return .quoted
                case JSONByte.apostrophe: return .singleQuoted
                default: return .bare
                }
            }
            if let style = firstKeyStyle(in: item.value) { return style }
        }
        return nil
    }

    func written(_ value: JSON, style: JSONWriter.Style, _ keyStyle: JSONWriter.KeyStyle, key: String? = nil) -> String
    {
        var writer = JSONWriter(style, keyStyle: keyStyle)
        if let key { writer.write(key: key) }
        writer.write(value)
        return String(decoding: writer.output, as: UTF8.self)
    }
}

/// Replacements in a text. They must not overlap.
struct JSONEdits {
    private var edits: [(range: Range<Int>, text: String)] = []

    mutating func replace(_ range: Range<Int>, with text: String) {
        edits.append((range, text))
    }

    mutating func insert(_ text: String, at offset: Int) {
        replace(offset..<offset, with: text)
    }

    /// The text with the replacements made. Replacements at the same offset keep their order.
    func applied(to text: [UInt8]) -> String {
        var result: [UInt8] = []
        var place = 0
        for (range, replacement) in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            result += text[place..<range.lowerBound]
            result += replacement.utf8
            place = range.upperBound
        }
        result += text[place...]
        return String(decoding: result, as: UTF8.self)
    }
}

/// The line layout of a settings file, which changes follow.
struct JSONLines {
    let text: [UInt8]
    /// The indentation of one level of nesting.
    let indent: String
    /// The first line break of the file. New lines use the same.
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

    /// Whether the first item of an array or object is on a line below the bracket.
    func isBroken(_ node: JSONSyntax) -> Bool {
        let end = node.items.first?.start ?? node.range.upperBound
        return text[node.range.lowerBound..<end].contains(where: Self.isBreak)
    }

    /// The white space at the start of the line that contains an offset.
    func indentation(at offset: Int) -> String {
        let line = text[start(ofLineAt: offset)...]
        return String(decoding: line.prefix(while: Self.isBlank), as: UTF8.self)
    }

    func start(ofLineAt offset: Int) -> Int {
        text[..<offset].lastIndex(where: Self.isBreak).map { $0 + 1 } ?? 0
    }

    /// Whether there are only blanks between the start of the line and an offset.
    func startsLine(_ offset: Int) -> Bool {
        text[start(ofLineAt: offset)..<offset].allSatisfy(Self.isBlank)
    }

    func skipBlanks(from offset: Int) -> Int {
        text[offset...].firstIndex { !Self.isBlank($0) } ?? text.count
    }

    func skipBlanks(before offset: Int) -> Int {
        text[..<offset].lastIndex { !Self.isBlank($0) }.map { $0 + 1 } ?? 0
    }

    /// The offset after the line break at an offset, or nil if there is no line break.
    func skipBreak(at offset: Int) -> Int? {
        guard offset < text.count, Self.isBreak(text[offset]) else { return nil }
        return offset + (text[offset...].starts(with: [JSONByte.carriageReturn, JSONByte.lineFeed]) ? 2 : 1)
    }

    /// One item per line, below a line that is indented by `base`.
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
    /// The end of the comments that follow on the same line, and whether the last one ends with its line.
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
