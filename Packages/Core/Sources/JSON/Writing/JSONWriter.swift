/// Writes values as bytes.
struct JSONWriter {
    /// How values are set apart.
    enum Style {
        /// Without any space.
        case compact
        /// On one line, with a space after commas and colons.
        case inline
        /// One element or member a line, in lines that start with `base` and an `indent` for each level.
        case lines(indent: String, lineBreak: String = "\n", base: String = "")
    }

    /// How keys are written where an identifier or a choice of quotes is possible.
    enum KeyStyle {
        case quoted, singleQuoted, bare
    }

    var output: [UInt8] = []
    let keyStyle: KeyStyle
    private let style: Style
    private let isSorted: Bool
    private var depth = 0

    init(_ style: Style, isSorted: Bool = false, keyStyle: KeyStyle = .quoted) {
        self.style = style
        self.isSorted = isSorted
        self.keyStyle = keyStyle
    }

    mutating func write(_ value: JSON) {
        switch value {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
        case .int(let value): output.append(contentsOf: value.description.utf8)
        case .big(let digits): output.append(contentsOf: (Self.isInteger(digits) ? digits : "null").utf8)
        case .double(let value): output.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
        case .string(let text): write(text)
        case .array(let elements): write(elements)
        case .object(let object): write(object)
        }
    }

    private mutating func write(_ elements: [JSON]) {
        output.append(JSONByte.openBracket)
        depth += 1
        for (place, element) in elements.enumerated() {
            separate(isFirst: place == 0)
            write(element)
        }
        depth -= 1
        if !elements.isEmpty { breakLine() }
        output.append(JSONByte.closeBracket)
    }

    private mutating func write(_ object: JSONObject) {
        let members = isSorted ? object.members.sorted { $0.key < $1.key } : object.members
        output.append(JSONByte.openBrace)
        depth += 1
        for (place, member) in members.enumerated() {
            separate(isFirst: place == 0)
            write(key: member.key)
            write(member.value)
        }
        depth -= 1
        if !members.isEmpty { breakLine() }
        output.append(JSONByte.closeBrace)
    }

    /// Writes a key and its colon.
    mutating func write(key: String) {
        switch keyStyle {
        case .quoted: write(key)
        case .singleQuoted: write(key, quote: JSONByte.apostrophe)
        case .bare: key.isIdentifier ? output.append(contentsOf: key.utf8) : write(key)
        }
        output.append(JSONByte.colon)
        if case .compact = style { return }
        output.append(JSONByte.space)
    }

    private mutating func separate(isFirst: Bool) {
        if !isFirst {
            output.append(JSONByte.comma)
            if case .inline = style { output.append(JSONByte.space) }
        }
        breakLine()
    }

    private mutating func breakLine() {
        guard case .lines(let indent, let lineBreak, let base) = style else { return }
        output.append(contentsOf: lineBreak.utf8)
        output.append(contentsOf: base.utf8)
        for _ in 0..<depth { output.append(contentsOf: indent.utf8) }
    }

    /// Digits go out unquoted, so anything else in their place would let a value break out of its own text.
    private static func isInteger(_ digits: String) -> Bool {
        let magnitude = digits.hasPrefix("-") ? digits.dropFirst() : digits[...]
        return magnitude.first.map { $0 != "0" || magnitude.utf8.count == 1 } == true
            && magnitude.utf8.allSatisfy { JSONByte.zero...JSONByte.nine ~= $0 }
    }
}
