/// Writes values as bytes.
struct JSONWriter {
    /// How values are separated.
    enum Style {
        /// Without white space.
        case compact
        /// On one line, with a space after commas and colons.
        case inline
        /// One element or member per line. Lines start with `base` and an `indent` for each level.
        case lines(indent: String, lineBreak: String = "\n", base: String = "")
    }

    /// How keys are written in JSON5, which allows identifiers and both kinds of quotes.
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

    /// Digits are written without quotes, so anything else in their place could inject JSON.
    private static func isInteger(_ digits: String) -> Bool {
        let magnitude = digits.hasPrefix("-") ? digits.dropFirst() : digits[...]
        return magnitude.first.map { $0 != "0" || magnitude.utf8.count == 1 } == true
            && magnitude.utf8.allSatisfy { JSONByte.zero...JSONByte.nine ~= $0 }
    }
}

extension JSONWriter {
    /// Writes a string in quotes. Escapes the characters that JSON forbids, and U+2028 and U+2029 for JavaScript.
    mutating func write(_ text: String, quote: UInt8 = JSONByte.quote) {
        let span = text.utf8.span
        output.append(quote)
        unsafe span.withUnsafeBufferPointer { bytes in
            var start = 0
            var place = 0
            while place < bytes.count {
                if quote == JSONByte.quote, unsafe Self.isPlain(bytes, at: place) {
                    place += 8
                    continue
                }
                let length = unsafe Self.escapedLength(bytes, at: place, quote)
                if length > 0 {
                    unsafe output.append(contentsOf: bytes[start..<place])
                    unsafe escape(bytes[place], last: bytes[place + length - 1])
                    start = place + length
                }
                place += max(length, 1)
            }
            unsafe output.append(contentsOf: bytes[start...])
        }
        output.append(quote)
    }

    /// Whether none of the next eight bytes needs an escape.
    @inline(__always)
    private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
        guard place + 8 <= bytes.count else { return false }
        let raw = UnsafeRawBufferPointer(bytes)
        let word = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        return word & JSONWord.highBits | JSONWord.special(in: word) == 0
    }

    /// The length of the character here in bytes if it needs an escape, otherwise 0.
    @inline(__always)
    private static func escapedLength(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int, _ quote: UInt8) -> Int {
        switch unsafe bytes[place] {
        case ..<JSONByte.space, quote, JSONByte.backslash: 1
        // U+2028 and U+2029. Strings are UTF-8, so two bytes follow this one.
        case 0xE2 where unsafe bytes[place + 1] == 0x80 && bytes[place + 2] | 1 == 0xA9: 3
        default: 0
        }
    }

    private mutating func escape(_ byte: UInt8, last: UInt8) {
        output.append(JSONByte.backslash)
        switch byte {
        case JSONByte.quote, JSONByte.apostrophe, JSONByte.backslash: output.append(byte)
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case JSONByte.lineFeed: output.append(UInt8(ascii: "n"))
        case JSONByte.carriageReturn: output.append(UInt8(ascii: "r"))
        case JSONByte.tab: output.append(UInt8(ascii: "t"))
        case 0xE2: output.append(contentsOf: (last == 0xA8 ? "u2028" : "u2029").utf8)
        default:
            output.append(contentsOf: (byte < 0x10 ? "u000" : "u00").utf8)
            output.append(contentsOf: String(byte, radix: 16).utf8)
        }
    }
}

/// How a value is written.
public struct JSONWriting: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// One member or element per line, indented by two spaces.
    public static let pretty = JSONWriting(rawValue: 1)

    /// Members sorted by key, so that equal values have equal texts.
    public static let sorted = JSONWriting(rawValue: 2)
}
