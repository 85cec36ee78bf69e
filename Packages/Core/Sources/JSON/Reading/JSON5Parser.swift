/// Parses JSON5, a superset of JSON, into a tree with positions.
///
/// The grammar is that of https://spec.json5.org, except that `Infinity` and `NaN` are refused.
struct JSON5Parser {
    var cursor: JSONCursor
    private let maxDepth: Int
    private var depth = 0

    init(_ cursor: JSONCursor, _ reading: JSONReading) {
        self.cursor = cursor
        maxDepth = reading.maxDepth
    }

    /// Parses a text that contains one value. Returns nil if it contains only white space and comments.
    mutating func document() throws(JSONError) -> JSONSyntax? {
        try cursor.refuseBadUTF8(in: 0..<cursor.count)
        _ = try skipSpace()
        if cursor.offset == cursor.count { return nil }
        let value = try value()
        _ = try skipSpace()
        if cursor.offset < cursor.count { throw cursor.failure(.expectedEnd) }
        return value
    }

    private mutating func value() throws(JSONError) -> JSONSyntax {
        let first = try skipSpace()
        let start = cursor.offset
        let content: JSONSyntax.Content =
            switch first {
            case JSONByte.openBrace: .object(try items(isObject: true, end: JSONByte.closeBrace))
            case JSONByte.openBracket: .array(try items(isObject: false, end: JSONByte.closeBracket))
            case JSONByte.quote, JSONByte.apostrophe: .scalar(.string(try string()))
            case JSONByte.zero...JSONByte.nine, JSONByte.plus, JSONByte.minus, JSONByte.dot: .scalar(try number())
            default: .scalar(try word())
            }
        return JSONSyntax(content: content, range: start..<cursor.offset)
    }

    /// Reads elements or members up to the closing bracket. A trailing comma is allowed.
    private mutating func items(isObject: Bool, end: UInt8) throws(JSONError) -> [JSONSyntax.Item] {
        if depth == maxDepth { throw cursor.failure(.tooDeep(maxDepth)) }
        depth += 1
        defer { depth -= 1 }
        cursor.offset += 1
        var items: [JSONSyntax.Item] = []
        var names: Set<JSONName> = []
        while try skipSpace() != end {
            var item = isObject ? try member(&names) : try element(items.count)
            switch try skipSpace() {
            case JSONByte.comma:
                item.comma = cursor.offset
                cursor.offset += 1
            case end: break
            default: throw cursor.failure(isObject ? .expectedCommaOrBrace : .expectedCommaOrBracket)
            }
            items.append(item)
        }
        cursor.offset += 1
        return items
    }

    private mutating func element(_ place: Int) throws(JSONError) -> JSONSyntax.Item {
        do {
            return JSONSyntax.Item(key: nil, value: try value())
        } catch {
            throw error.inside(String(place))
        }
    }

    private mutating func member(_ names: inout Set<JSONName>) throws(JSONError) -> JSONSyntax.Item {
        let start = cursor.offset
        let isQuoted = cursor.byte == JSONByte.quote || cursor.byte == JSONByte.apostrophe
        let name = isQuoted ? try string() : try identifier()
        let key = JSONSyntax.Key(name: name, range: start..<cursor.offset)
        guard try skipSpace() == JSONByte.colon else { throw cursor.failure(.expectedColon) }
        cursor.offset += 1
        guard names.insert(JSONName(name)).inserted else { throw cursor.failure(.duplicateKey(name), at: start) }
        do {
            return JSONSyntax.Item(key: key, value: try value())
        } catch {
            throw error.inside(name)
        }
    }

    private mutating func word() throws(JSONError) -> JSON {
        let start = cursor.offset
        guard startsIdentifier else { throw cursor.failure(.expectedValue) }
        switch try identifier() {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "Infinity", "NaN": throw cursor.failure(.wordForInfinity, at: start)
        default: throw cursor.failure(.unknownWord, at: start)
        }
    }
}

extension JSON5Parser {
    /// Whether an identifier starts here.
    var startsIdentifier: Bool {
        let scalar = cursor.scalar(at: cursor.offset).0
        return scalar.startsIdentifier || scalar == "\\"
    }

    /// Reads a key without quotes: an identifier of ECMAScript 5.1, in which escapes may stand for letters.
    mutating func identifier() throws(JSONError) -> String {
        guard startsIdentifier else { throw cursor.failure(.expectedKey) }
        var name = String.UnicodeScalarView()
        while true {
            let start = cursor.offset
            var (scalar, length) = cursor.scalar(at: start)
            let isEscape = scalar == "\\"
            if isEscape {
                guard cursor[start + 1] == UInt8(ascii: "u") else {
                    throw cursor.failure(.unknownEscape, at: start + 1)
                }
                scalar = try unicodeEscape()
                length = 0
            }
            guard name.isEmpty ? scalar.startsIdentifier : scalar.continuesIdentifier else {
                if isEscape { throw cursor.failure(.expectedKey, at: start) }
                return String(name)
            }
            name.append(scalar)
            cursor.offset += length
        }
    }
}

extension Unicode.Scalar {
    /// Whether an identifier can start with this scalar.
    var startsIdentifier: Bool {
        switch self {
        case "$", "_", "a"..."z", "A"..."Z": return true
        case _ where isASCII: return false
        default: break
        }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber:
            return true
        default: return false
        }
    }

    /// Whether an identifier can contain this scalar after the first.
    var continuesIdentifier: Bool {
        if startsIdentifier || self == "\u{200C}" || self == "\u{200D}" { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .decimalNumber, .connectorPunctuation: return true
        default: return false
        }
    }
}

extension String {
    /// Whether this string can be a key without quotes.
    var isIdentifier: Bool {
        guard let first = unicodeScalars.first, first.startsIdentifier else { return false }
        return unicodeScalars.dropFirst().allSatisfy(\.continuesIdentifier)
    }
}

extension JSON5Parser {
    /// Reads a number, which starts here with a sign, a digit or a dot.
    mutating func number() throws(JSONError) -> JSON {
        let start = cursor.offset
        let isNegative = cursor.byte == JSONByte.minus
        if isNegative || cursor.byte == JSONByte.plus { cursor.offset += 1 }
        if startsIdentifier {
            let place = cursor.offset
            let word = try identifier()
            let isNumber = word == "Infinity" || word == "NaN"
            throw isNumber ? cursor.failure(.wordForInfinity, at: start) : cursor.failure(.missingDigits, at: place)
        }
        if cursor.byte == JSONByte.zero, cursor[cursor.offset + 1] | 0x20 == UInt8(ascii: "x") {
            return try hexadecimal(isNegative: isNegative)
        }
        let sign = isNegative ? "-" : ""
        let whole = digits()
        if whole.utf8.count > 1, whole.hasPrefix("0") {
            throw cursor.failure(.leadingZero, at: cursor.offset - whole.utf8.count)
        }
        guard cursor.byte == JSONByte.dot || cursor.byte | 0x20 == UInt8(ascii: "e") else {
            if whole.isEmpty { throw cursor.failure(.missingDigits) }
            return Int(sign + whole).map(JSON.int) ?? .big(sign + whole)
        }
        var fraction = ""
        if cursor.byte == JSONByte.dot {
            cursor.offset += 1
            fraction = digits()
        }
        if whole.isEmpty, fraction.isEmpty { throw cursor.failure(.missingDigits) }
        let exponent = try exponent()
        // The zeros ensure a digit on both sides of the dot, which the conversion needs.
        guard let value = Double("\(sign)0\(whole).\(fraction)0\(exponent)"), value.isFinite else {
            throw cursor.failure(.infiniteNumber, at: start)
        }
        return .double(value)
    }

    private mutating func digits() -> String {
        var digits = ""
        while JSONByte.zero...JSONByte.nine ~= cursor.byte {
            digits.unicodeScalars.append(Unicode.Scalar(cursor.byte))
            cursor.offset += 1
        }
        return digits
    }

    private mutating func exponent() throws(JSONError) -> String {
        guard cursor.byte | 0x20 == UInt8(ascii: "e") else { return "" }
        cursor.offset += 1
        let isNegative = cursor.byte == JSONByte.minus
        if isNegative || cursor.byte == JSONByte.plus { cursor.offset += 1 }
        let digits = digits()
        if digits.isEmpty { throw cursor.failure(.missingDigits) }
        return (isNegative ? "e-" : "e") + digits
    }

    private mutating func hexadecimal(isNegative: Bool) throws(JSONError) -> JSON {
        let start = cursor.offset
        cursor.offset += 2
        guard JSONByte.hexadecimal(cursor.byte) != nil else { throw cursor.failure(.missingDigits) }
        var magnitude: UInt64 = 0
        while let digit = JSONByte.hexadecimal(cursor.byte) {
            if magnitude >> 60 != 0 { throw cursor.failure(.largeHexadecimal, at: start) }
            magnitude = magnitude << 4 | UInt64(digit)
            cursor.offset += 1
        }
        let text = (isNegative && magnitude != 0 ? "-" : "") + String(magnitude)
        return Int(text).map(JSON.int) ?? .big(text)
    }
}

extension JSON5Parser {
    /// Skips white space and comments. Returns the byte after them, or zero at the end.
    mutating func skipSpace() throws(JSONError) -> UInt8 {
        while cursor.offset < cursor.count {
            switch cursor.byte {
            case 0x09...0x0D, JSONByte.space: cursor.offset += 1
            case JSONByte.slash where cursor[cursor.offset + 1] == JSONByte.slash: skipLineComment()
            case JSONByte.slash where cursor[cursor.offset + 1] == JSONByte.asterisk: try skipBlockComment()
            case 0x80...:
                let (scalar, length) = cursor.scalar(at: cursor.offset)
                guard scalar == "\u{FEFF}" || scalar.endsLine || scalar.properties.generalCategory == .spaceSeparator
                else { return cursor.byte }
                cursor.offset += length
            case let other: return other
            }
        }
        return 0
    }

    private mutating func skipLineComment() {
        while cursor.offset < cursor.count {
            let (scalar, length) = cursor.scalar(at: cursor.offset)
            if scalar.endsLine { return }
            cursor.offset += length
        }
    }

    private mutating func skipBlockComment() throws(JSONError) {
        let start = cursor.offset
        cursor.offset += 2
        while cursor.byte != JSONByte.asterisk || cursor[cursor.offset + 1] != JSONByte.slash {
            guard cursor.offset < cursor.count else { throw cursor.failure(.unclosedComment, at: start) }
            cursor.offset += 1
        }
        cursor.offset += 2
    }
}

extension JSONCursor {
    /// The scalar at an offset, and its length. At the end of the text these are U+0000 and 1.
    ///
    /// The text must be valid UTF-8.
    func scalar(at offset: Int) -> (Unicode.Scalar, length: Int) {
        let first = UInt32(self[offset])
        if first < 0x80 { return (Unicode.Scalar(UInt8(first)), 1) }
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        var value = first & (0x7F >> UInt32(length))
        for place in 1..<length { value = value << 6 | UInt32(self[offset + place] & 0x3F) }
        return (Unicode.Scalar(value) ?? "\u{FFFD}", length)
    }
}

extension Unicode.Scalar {
    /// Whether this is a line terminator of JSON5.
    var endsLine: Bool {
        switch self {
        case "\n", "\r", "\u{2028}", "\u{2029}": true
        default: false
        }
    }
}

extension JSON5Parser {
    /// Reads a string that starts here, in either kind of quotes.
    mutating func string() throws(JSONError) -> String {
        let start = cursor.offset
        let quote = cursor.byte
        cursor.offset += 1
        var text = String.UnicodeScalarView()
        while cursor.byte != quote {
            guard cursor.offset < cursor.count else { throw cursor.failure(.unclosedString, at: start) }
            let (scalar, length) = cursor.scalar(at: cursor.offset)
            switch scalar {
            case "\\":
                if let scalar = try escape() { text.append(scalar) }
            case "\n", "\r": throw cursor.failure(.lineBreakInString)
            default:
                text.append(scalar)
                cursor.offset += length
            }
        }
        cursor.offset += 1
        return String(text)
    }

    /// Reads an escape. Returns nil for a backslash at the end of a line.
    private mutating func escape() throws(JSONError) -> Unicode.Scalar? {
        let (scalar, length) = cursor.scalar(at: cursor.offset + 1)
        switch scalar {
        case "u": return try unicodeEscape()
        case "x": return try byteEscape()
        case "1"..."9": throw cursor.failure(.unknownEscape, at: cursor.offset + 1)
        case "0" where JSONByte.zero...JSONByte.nine ~= cursor[cursor.offset + 2]:
            throw cursor.failure(.unknownEscape, at: cursor.offset + 1)
        default: break
        }
        cursor.offset += 1 + length
        switch scalar {
        case "b": return "\u{08}"
        case "f": return "\u{0C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{0B}"
        case "0": return "\0"
        case "\r":
            if cursor.byte == JSONByte.lineFeed { cursor.offset += 1 }
            return nil
        default: return scalar.endsLine ? nil : scalar
        }
    }

    private mutating func byteEscape() throws(JSONError) -> Unicode.Scalar {
        let value = try hexadecimal(cursor.offset + 2..<cursor.offset + 4)
        cursor.offset += 4
        return Unicode.Scalar(UInt8(value))
    }

    /// Reads a `\uXXXX` escape that starts here, or two that form a surrogate pair.
    mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
        _ = try hexadecimal(cursor.offset + 2..<cursor.offset + 6)
        let (scalar, length) = cursor.unicodeEscape(at: cursor.offset)
        guard let scalar else { throw cursor.failure(.loneSurrogate) }
        cursor.offset += length
        return scalar
    }

    private func hexadecimal(_ places: Range<Int>) throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for place in places {
            guard let digit = JSONByte.hexadecimal(cursor[place]) else {
                throw cursor.failure(.unfinishedEscape, at: place)
            }
            value = value << 4 | digit
        }
        return value
    }
}
