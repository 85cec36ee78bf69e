/// A string literal whose escapes were checked, and where its content lies.
struct JSONStringToken {
    let content: Range<Int>
    let isASCII: Bool
    let hasEscapes: Bool
}

extension JSONCursor {
    private static var lowBits: UInt64 { 0x0101_0101_0101_0101 }
    private static var highBits: UInt64 { 0x8080_8080_8080_8080 }

    /// Steps over a string literal that starts here, eight bytes at a time.
    @inline(__always)
    mutating func scanString(repairing: Bool) throws(JSONError) -> JSONStringToken {
        offset += 1
        let start = offset
        var seen: UInt64 = 0
        var hasEscapes = false
        while true {
            while offset + 8 <= count {
                let word = word(at: offset)
                let special = Self.special(in: word)
                if special == 0 {
                    seen |= word
                    offset += 8
                } else {
                    let length = special.trailingZeroBitCount >> 3
                    seen |= word & ~(~0 << (UInt64(length) * 8))
                    offset += length
                    break
                }
            }
            switch byte {
            case JSONByte.quote:
                let content = start..<offset
                offset += 1
                return JSONStringToken(content: content, isASCII: seen & Self.highBits == 0, hasEscapes: hasEscapes)
            case JSONByte.backslash:
                hasEscapes = true
                try scanEscape(repairing: repairing)
            case 0..<JSONByte.space:
                throw offset < count ? failure(.controlCharacter) : failure(.unclosedString, at: start - 1)
            case let other:
                seen |= UInt64(other)
                offset += 1
            }
        }
    }

    /// The high bit of the first byte that is a quote, a backslash or a control character; bits above it mean nothing.
    @inline(__always)
    private static func special(in word: UInt64) -> UInt64 {
        let quotes = word ^ (lowBits &* UInt64(JSONByte.quote))
        let backslashes = word ^ (lowBits &* UInt64(JSONByte.backslash))
        let controls = (word &- (lowBits &* UInt64(JSONByte.space))) & ~word
        return (((quotes &- lowBits) & ~quotes) | ((backslashes &- lowBits) & ~backslashes) | controls) & highBits
    }

    /// Steps over an escape, with its second half where it is a surrogate pair.
    private mutating func scanEscape(repairing: Bool) throws(JSONError) {
        let start = offset
        switch self[start + 1] {
        case JSONByte.quote, JSONByte.backslash, JSONByte.slash, UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset += 2
        case UInt8(ascii: "u"):
            for place in start + 2..<start + 6 where JSONByte.hexadecimal(self[place]) == nil {
                throw failure(place < count ? .unfinishedEscape : .unclosedString, at: place)
            }
            let (scalar, length) = unicodeEscape(at: start)
            if scalar == nil, !repairing { throw failure(.loneSurrogate, at: start) }
            offset += length
        default:
            throw failure(start + 1 < count ? .unknownEscape : .unclosedString, at: start + 1)
        }
    }

    /// The scalar of a `\uXXXX` escape, or of a pair of them, and its length; nil for an unpaired surrogate.
    func unicodeEscape(at start: Int) -> (scalar: Unicode.Scalar?, length: Int) {
        guard let high = codeUnit(at: start) else { return (nil, 6) }
        if let scalar = Unicode.Scalar(high) { return (scalar, 6) }
        guard high < 0xDC00, let low = codeUnit(at: start + 6), 0xDC00..<0xE000 ~= low else { return (nil, 6) }
        return (Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)), 12)
    }

    private func codeUnit(at start: Int) -> UInt32? {
        guard self[start] == JSONByte.backslash, self[start + 1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt32 = 0
        for place in start + 2..<start + 6 {
            guard let digit = JSONByte.hexadecimal(self[place]) else { return nil }
            unit = unit << 4 | digit
        }
        return unit
    }
}
