/// Writes values as bytes.
struct JSONWriter {
    /// How lines are broken and indented.
    struct Layout {
        var indent = "  "
        var lineBreak = "\n"
        /// What the line that the value starts on is indented by.
        var base = ""
    }

    var output: [UInt8] = []
    private let layout: Layout?
    private let isSorted: Bool
    private var depth = 0

    init(layout: Layout?, isSorted: Bool = false) {
        self.layout = layout
        self.isSorted = isSorted
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
            if place > 0 { output.append(JSONByte.comma) }
            breakLine()
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
            if place > 0 { output.append(JSONByte.comma) }
            breakLine()
            write(member.key)
            output.append(JSONByte.colon)
            if layout != nil { output.append(JSONByte.space) }
            write(member.value)
        }
        depth -= 1
        if !members.isEmpty { breakLine() }
        output.append(JSONByte.closeBrace)
    }

    private mutating func breakLine() {
        guard let layout else { return }
        output.append(contentsOf: layout.lineBreak.utf8)
        output.append(contentsOf: layout.base.utf8)
        for _ in 0..<depth { output.append(contentsOf: layout.indent.utf8) }
    }

    /// Digits go out unquoted, so anything else in their place would let a value break out of its own text.
    private static func isInteger(_ digits: String) -> Bool {
        let magnitude = digits.hasPrefix("-") ? digits.dropFirst() : digits[...]
        return magnitude.first.map { $0 != "0" || magnitude.utf8.count == 1 } == true
            && magnitude.utf8.allSatisfy { JSONByte.zero...JSONByte.nine ~= $0 }
    }
}
