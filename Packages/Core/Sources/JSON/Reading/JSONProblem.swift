/// Everything that can be wrong with a text, before it is worded and located.
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

    /// The message; `found` names what stands at the place of the problem.
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
        case .loneSurrogate: "the escape is half of a surrogate pair and stands for no character"
        case .badUTF8: "the text is not UTF-8 here; save it as UTF-8"
        case .byteOrderMark: "the text starts with a byte order mark; remove it"
        case .leadingZero: "a number cannot start with a zero that another digit follows"
        case .missingDigits: "expected a digit, found \(found)"
        case .infiniteNumber: "the number is too large for a double"
        case .wordForInfinity: "Infinity and NaN are no JSON values; use a finite number, a string or null"
        case .largeHexadecimal: "the hexadecimal number does not fit 64 bits; write it in decimal"
        case .notAnInteger: "expected an integer of 64 bits, found another number"
        case .unclosedComment: "the comment has no closing */"
        case .unknownWord: "unknown word at \(found); a string needs quotes"
        case .tooDeep(let limit): "arrays and objects nest deeper than \(limit), the limit (maxDepth)"
        case .tooLong(let count, let limit): "the text has \(count) bytes; the limit (maxBytes) is \(limit)"
        case .duplicateKey(let key):
            "the key \(JSON.string(key).text()) is already in this object; remove one of the two"
        case .wrongType(let expected, let found): "expected \(expected), found \(found)"
        }
    }
}
