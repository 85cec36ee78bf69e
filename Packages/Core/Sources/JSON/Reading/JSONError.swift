/// Why a text is not the expected JSON, and where.
public struct JSONError: Error, Sendable, Equatable {
    /// The kind of problem.
    public enum Code: String, Sendable {
        /// The text breaks the grammar.
        case syntax
        /// Arrays and objects are nested too deeply.
        case depth
        /// The text is too long.
        case size
        /// An object has a key twice.
        case duplicateKey
        /// The text is not UTF-8, or an escape is not a valid character.
        case encoding
        /// A number is malformed or out of range.
        case number
        /// A value is of another kind than the caller expected.
        case type
    }

    /// The kind of problem.
    public let code: Code
    /// What is wrong, to show to the user.
    public let message: String
    /// The keys and indices that lead to the value, such as `["servers", "0", "url"]`.
    public internal(set) var path: [String]
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1 in Unicode scalars.
    public let column: Int
    /// The offset in bytes, counted from 0.
    public let offset: Int

    /// An error at a place.
    public init(_ code: Code, _ message: String, path: [String] = [], line: Int = 1, column: Int = 1, offset: Int = 0) {
        self.code = code
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.offset = offset
    }

    /// The error as `file:line:column: message`, a format that editors understand.
    public func located(in file: String) -> String {
        "\(file):\(line):\(column): \(message)"
    }

    /// The same error with its path extended by the array or object around it.
    func inside(_ key: String) -> JSONError {
        var error = self
        error.path.insert(key, at: 0)
        return error
    }
}

extension JSONError: CustomStringConvertible {
    /// The position and the message.
    public var description: String { "line \(line), column \(column): \(message)" }
}

/// Every kind of error in a text, without its message and position.
enum JSONProblem {
    case expectedValue, expectedKey, expectedQuotedKey, expectedColon, expectedCommaOrBrace, expectedCommaOrBracket,
        expectedEnd
    case unclosedString, controlCharacter, lineBreakInString, unknownEscape, unfinishedEscape
    case loneSurrogate, badUTF8, byteOrderMark
    case leadingZero, missingDigits, infiniteNumber, wordForInfinity, largeHexadecimal, notAnInteger
    case unclosedComment, unknownWord
    case tooDeep(Int), tooLong(Int, limit: Int)
    case duplicateKey(String)
    case wrongType(expected: String, found: String)

    var code: JSONError.Code {
        switch self {
        case .loneSurrogate, .badUTF8, .byteOrderMark: .encoding
        case .leadingZero, .missingDigits, .infiniteNumber, .wordForInfinity, .largeHexadecimal: .number
        case .tooDeep: .depth
        case .tooLong: .size
        case .duplicateKey: .duplicateKey
        case .wrongType, .notAnInteger: .type
        default: .syntax
        }
    }

    /// The message. `found` describes the text at the position of the problem.
    func message(found: String) -> String {
        switch self {
        case .expectedValue: "expected a value, found \(found)"
        case .expectedKey: "expected a key, found \(found)"
        case .expectedQuotedKey: "expected a key in double quotes, found \(found)"
        case .expectedColon: "expected ':' after the key, found \(found)"
        case .expectedCommaOrBrace: "expected ',' or '}' after the value, found \(found)"
        case .expectedCommaOrBracket: "expected ',' or ']' after the value, found \(found)"
        case .expectedEnd: "expected nothing more after the value, found \(found)"
        case .unclosedString: "the string has no closing quote"
        case .controlCharacter: "a string cannot hold the control character \(found); escape it"
        case .lineBreakInString: "a string cannot hold a line break; write \\n, or end the line with a backslash"
        case .unknownEscape: "unknown escape: \(found) after a backslash"
        case .unfinishedEscape: "expected a hexadecimal digit in the escape, found \(found)"
        case .loneSurrogate: "the escape is only half of a surrogate pair"
        case .badUTF8: "the text is not UTF-8 here; save it as UTF-8"
        case .byteOrderMark: "the text starts with a byte order mark; remove it"
        case .leadingZero: "a number cannot have a leading zero"
        case .missingDigits: "expected a digit, found \(found)"
        case .infiniteNumber: "the number is too large for a double"
        case .wordForInfinity: "Infinity and NaN are not JSON values; use a finite number, a string or null"
        case .largeHexadecimal: "the hexadecimal number does not fit in 64 bits; write it in decimal"
        case .notAnInteger: "expected a 64-bit integer, found another number"
        case .unclosedComment: "the comment has no closing */"
        case .unknownWord: "unknown word at \(found); a string needs quotes"
        case .tooDeep(let limit): "arrays and objects are nested deeper than the limit of \(limit) (maxDepth)"
        case .tooLong(let count, let limit): "the text has \(count) bytes; the limit (maxBytes) is \(limit)"
        case .duplicateKey(let key):
            "the key \(JSON.string(key).text()) is already in this object; remove one of the two"
        case .wrongType(let expected, let found): "expected \(expected), found \(found)"
        }
    }
}

/// The line and column of an offset and a description of the text there, for messages.
@safe struct JSONPlace {
    let line: Int
    let column: Int
    /// The character there: quoted if it can be printed, otherwise by its number.
    let found: String

    init(offset: Int, in bytes: UnsafeRawBufferPointer) {
        var line = 1
        var start = 0
        for place in 0..<offset {
            let byte = unsafe bytes[place]
            let next = place + 1 < bytes.count ? unsafe bytes[place + 1] : 0
            if byte == JSONByte.lineFeed || byte == JSONByte.carriageReturn && next != JSONByte.lineFeed {
                line += 1
                start = place + 1
            }
        }
        var column = 1
        for place in start..<max(start, offset) where unsafe bytes[place] & 0xC0 != 0x80 { column += 1 }
        self.line = line
        self.column = column
        found = unsafe Self.name(of: UnsafeRawBufferPointer(rebasing: bytes[offset...].prefix(4)))
    }

    private static func name(of bytes: UnsafeRawBufferPointer) -> String {
        guard let first = unsafe bytes.first else { return "the end of the text" }
        guard case .scalarValue(let scalar) = unsafe decodeFirst(of: bytes) else {
            return "the byte 0x\(String(first, radix: 16, uppercase: true))"
        }
        let hexadecimal = String(scalar.value, radix: 16, uppercase: true)
        let number = "U+" + String(repeating: "0", count: max(0, 4 - hexadecimal.count)) + hexadecimal
        if scalar == " " { return "a space" }
        if scalar == "'" { return "\"'\"" }
        if scalar.isASCII { return scalar.value > 0x20 && scalar.value < 0x7F ? "'\(scalar)'" : number }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .otherLetter, .decimalNumber, .otherPunctuation, .mathSymbol,
            .currencySymbol, .initialPunctuation, .finalPunctuation, .openPunctuation, .closePunctuation,
            .dashPunctuation:
            return "'\(scalar)' (\(number))"
        default:
            return number
        }
    }

    private static func decodeFirst(of bytes: UnsafeRawBufferPointer) -> UnicodeDecodingResult {
        var decoder = UTF8()
        var iterator = unsafe bytes.makeIterator()
        return unsafe decoder.decode(&iterator)
    }
}
