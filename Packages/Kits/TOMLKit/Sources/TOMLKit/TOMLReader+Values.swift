import Capabilities
import JSON

extension TOMLReader {
    /// - Parameter depth: the level of the value, for the limit.
    mutating func value(depth: Int) throws(TOMLError) -> JSON {
        try countValue()
        switch peek {
        case UInt8(ascii: "\"")?: return .string(has(0x22, 0x22, 0x22) ? try longString(0x22) : try basicString())
        case UInt8(ascii: "'")?: return .string(has(0x27, 0x27, 0x27) ? try longString(0x27) : try literalString())
        case UInt8(ascii: "[")?:
            try checkDepth(depth)
            return try array(depth: depth)
        case UInt8(ascii: "{")?:
            try checkDepth(depth)
            return try inlineTable(depth: depth)
        default: return try word()
        }
    }

    private func checkDepth(_ depth: Int) throws(TOMLError) {
        guard depth <= limits.depth else {
            throw error(.limit, "the value is nested deeper than \(limits.depth) levels")
        }
    }

    private mutating func array(depth: Int) throws(TOMLError) -> JSON {
        at += 1
        var items: [JSON] = []
        while true {
            try skipLines()
            if peek == UInt8(ascii: "]") { break }
            items.append(try value(depth: depth + 1))
            try skipLines()
            if peek == UInt8(ascii: ",") {
                at += 1
            } else if peek != UInt8(ascii: "]") {
                throw error(.syntax, "an array goes on with ',' or ends with ']', not with \(found)")
            }
        }
        at += 1
        return .array(items)
    }

    /// Skips blanks, line breaks and comments.
    private mutating func skipLines() throws(TOMLError) {
        repeat {
            skipBlanks()
            if peek == UInt8(ascii: "#") { try skipComment() }
        } while try skipNewline()
    }

    private mutating func inlineTable(depth: Int) throws(TOMLError) -> JSON {
        at += 1
        let table = tree.makeTable(depth: depth)
        skipBlanks()
        if peek == UInt8(ascii: "}") {
            at += 1
            return [:]
        }
        while true {
            skipBlanks()
            let start = at
            let (path, value) = try pair(depth: depth)
            try define(path, value, in: table, at: start)
            skipBlanks()
            switch peek {
            case UInt8(ascii: ",")?: at += 1
            case UInt8(ascii: "}")?:
                at += 1
                return tree.json(of: table)
            default: throw error(.syntax, "an inline table goes on with ',' or ends with '}', not with \(found)")
            }
        }
    }

    // MARK: Words

    /// A number, a date or a truth value.
    private mutating func word() throws(TOMLError) -> JSON {
        let start = at
        skipWord()
        // The date and the time may be separated by a blank.
        let isDate = at - start == 10 && bytes[start + 4] == UInt8(ascii: "-")
        if isDate, peek == UInt8(ascii: " "), at + 1 < bytes.count, Self.isDigit(bytes[at + 1]) {
            at += 1
            skipWord()
        }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        switch text {
        case "": throw error(.syntax, "there should be a value, not \(found)")
        case "true": return true
        case "false": return false
        case "inf", "+inf": return "inf"
        case "-inf": return "-inf"
        case "nan", "+nan", "-nan": return "nan"
        default: break
        }
        if let moment = TOMLMoment(text) { return .string(moment.text) }
        return try number(text, at: start)
    }

    private mutating func skipWord() {
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"),
                UInt8(ascii: "."), UInt8(ascii: ":"):
                at += 1
            default: return
            }
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private func number(_ text: String, at start: Int) throws(TOMLError) -> JSON {
        let word = TOMLNumber(text)
        guard let word else {
            let shown = PlainText.escape(text).quotedForMessage
            throw error(.syntax, "\(shown) is not a value; a text needs quotes", at: start)
        }
        switch word {
        case .whole(let digits, let radix):
            guard let whole = Int(digits, radix: radix) else {
                throw error(.number, "the number has more than 64 bits", at: start)
            }
            return .int(whole)
        case .fraction(let digits):
            guard let value = Double(digits), value.isFinite else {
                throw error(.number, "the number is too large", at: start)
            }
            return .double(value)
        }
    }
}

/// A number as it is written, without its underscores.
private enum TOMLNumber {
    case whole(String, radix: Int)
    case fraction(String)

    /// Nil for what is not a number.
    init?(_ text: String) {
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.hasPrefix(prefix) {
            guard let digits = Self.digits(text.dropFirst(2), radix: radix) else { return nil }
            self = .whole(digits, radix: radix)
            return
        }
        let sign = text.first == "-" ? "-" : ""
        let rest = text.first == "-" || text.first == "+" ? text.dropFirst() : text[...]
        let end = rest.firstIndex { !($0 == "_" || ("0"..."9").contains($0)) } ?? rest.endIndex
        guard let whole = Self.digits(rest[..<end], radix: 10), whole == "0" || !whole.hasPrefix("0") else {
            return nil
        }
        if end == rest.endIndex {
            self = .whole(sign + whole, radix: 10)
            return
        }
        var (tail, digits) = (rest[end...], sign + whole)
        if tail.first == "." {
            tail = tail.dropFirst()
            let end = tail.firstIndex { $0 == "e" || $0 == "E" } ?? tail.endIndex
            guard let part = Self.digits(tail[..<end], radix: 10) else { return nil }
            digits += ".\(part)"
            tail = tail[end...]
        }
        if let letter = tail.first {
            guard letter == "e" || letter == "E" else { return nil }
            tail = tail.dropFirst()
            digits += "e"
            if let sign = tail.first, sign == "-" || sign == "+" {
                digits.append(sign)
                tail = tail.dropFirst()
            }
            guard let part = Self.digits(tail, radix: 10) else { return nil }
            digits += part
        }
        self = .fraction(digits)
    }

    /// Digits with single underscores between them; nil for anything else.
    private static func digits(_ text: Substring, radix: Int) -> String? {
        var digits = ""
        var isAfterDigit = false
        for character in text {
            if character == "_" {
                guard isAfterDigit else { return nil }
                isAfterDigit = false
            } else {
                guard character.isASCII, let digit = character.hexDigitValue, digit < radix else { return nil }
                digits.append(character)
                isAfterDigit = true
            }
        }
        return isAfterDigit ? digits : nil
    }
}
