extension JSON5Parser {
    /// Steps over white space and comments and returns the byte after them, or zero at the end.
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
    /// The scalar at an offset inside text that is known to be UTF-8, and its length; zero and one at the end.
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
