extension JSON5Parser {
    /// Reads a string in either kind of quotes, which starts here.
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

    /// Reads an escape; a backslash at the end of a line stands for nothing.
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

    /// Reads a `\uXXXX` escape that starts here, or a surrogate pair of them.
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
