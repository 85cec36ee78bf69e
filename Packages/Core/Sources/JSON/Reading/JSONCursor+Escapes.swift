extension JSONCursor {
    /// Steps over an escape that starts here, with its second half where it is a surrogate pair.
    @inline(__always)
    mutating func scanEscape(repairing: Bool) throws(JSONError) {
        switch self[offset + 1] {
        case JSONByte.quote, JSONByte.backslash, JSONByte.slash, UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset += 2
        case UInt8(ascii: "u"):
            let (scalar, length) = unicodeEscape(at: offset)
            if scalar == nil {
                try checkDigits(from: offset + 2)
                if !repairing { throw failure(.loneSurrogate) }
            }
            offset += length
        default:
            throw failure(offset + 1 < count ? .unknownEscape : .unclosedString, at: offset + 1)
        }
    }

    /// The scalar of a `\uXXXX` escape, or of a pair of them, and its length; nil for half a pair or without digits.
    @inline(__always)
    func unicodeEscape(at start: Int) -> (scalar: Unicode.Scalar?, length: Int) {
        guard let high = codeUnit(at: start) else { return (nil, 6) }
        if let scalar = Unicode.Scalar(high) { return (scalar, 6) }
        guard high < 0xDC00, self[start + 6] == JSONByte.backslash, self[start + 7] == UInt8(ascii: "u"),
            let low = codeUnit(at: start + 6), 0xDC00..<0xE000 ~= low
        else { return (nil, 6) }
        return (Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)), 12)
    }

    /// The character that a checked escape of two bytes stands for.
    @inline(__always)
    func shortEscape(at start: Int) -> UInt8 {
        switch self[start + 1] {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): JSONByte.lineFeed
        case UInt8(ascii: "r"): JSONByte.carriageReturn
        case UInt8(ascii: "t"): JSONByte.tab
        case let other: other
        }
    }

    @inline(__always)
    private func codeUnit(at start: Int) -> UInt32? {
        var unit: UInt32 = 0
        for place in start + 2..<start + 6 {
            guard let digit = JSONByte.hexadecimal(self[place]) else { return nil }
            unit = unit << 4 | digit
        }
        return unit
    }

    private func checkDigits(from start: Int) throws(JSONError) {
        for place in start..<start + 4 where JSONByte.hexadecimal(self[place]) == nil {
            throw failure(place < count ? .unfinishedEscape : .unclosedString, at: place)
        }
    }
}
