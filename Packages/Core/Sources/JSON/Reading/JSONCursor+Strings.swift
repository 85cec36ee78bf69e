/// A string literal that was checked, and where its content lies.
struct JSONStringToken {
    let content: Range<Int>
    var isASCII = true
    var hasEscapes = false
    /// Whether the content holds bytes that are not UTF-8, which were let pass to be repaired.
    var needsRepair = false
}

extension JSONCursor {
    /// Steps over a string literal that starts here, checking its characters and escapes.
    @inline(__always)
    mutating func scanString(repairing: Bool) throws(JSONError) -> JSONStringToken {
        let start = offset + 1
        skipPlain(from: start)
        if byte == JSONByte.quote {
            offset += 1
            return JSONStringToken(content: start..<offset - 1)
        }
        return try scanRest(from: start, repairing: repairing)
    }

    /// Steps over characters that stand for themselves in one byte, eight at a time.
    @inline(__always)
    private mutating func skipPlain(from start: Int) {
        offset = start
        while offset + 8 <= count {
            let word = word(at: offset)
            let stops = JSONWord.special(in: word) | word & JSONWord.highBits
            if stops != 0 {
                offset += stops.trailingZeroBitCount >> 3
                return
            }
            offset += 8
        }
        while offset < count, byte >= JSONByte.space, byte < 0x80, byte != JSONByte.quote, byte != JSONByte.backslash {
            offset += 1
        }
    }

    /// Goes on where something else than plain characters or the end of the string was met.
    private mutating func scanRest(from start: Int, repairing: Bool) throws(JSONError) -> JSONStringToken {
        var isASCII = true
        var hasEscapes = false
        var needsRepair = false
        while true {
            switch byte {
            case JSONByte.quote:
                offset += 1
                return JSONStringToken(
                    content: start..<offset - 1, isASCII: isASCII, hasEscapes: hasEscapes, needsRepair: needsRepair)
            case JSONByte.backslash:
                hasEscapes = true
                try scanEscape(repairing: repairing)
            case 0x80...:
                isASCII = false
                if !skipMultibyte() {
                    guard repairing else { throw failure(.badUTF8) }
                    needsRepair = true
                    offset += 1
                }
            default: throw offset < count ? failure(.controlCharacter) : failure(.unclosedString, at: start - 1)
            }
            skipPlain(from: offset)
        }
    }

    /// Steps over characters of several bytes, and returns false at what is none (Unicode, table 3-7).
    private mutating func skipMultibyte() -> Bool {
        while true {
            let bytes = fourBytes(at: offset)
            if bytes & 0x80 == 0 { return true }
            if bytes & 0x00C0_C0F0 == 0x0080_80E0 {
                // Neither longer than needed nor a surrogate.
                guard bytes & 0x200F != 0, bytes & 0x200F != 0x200D else { return false }
                offset += 3
            } else if bytes & 0xC0E0 == 0x80C0 {
                guard bytes & 0x1E != 0 else { return false }
                offset += 2
            } else if bytes & 0xC0C0_C0F8 == 0x8080_80F0 {
                // Neither longer than needed nor beyond U+10FFFF.
                guard bytes & 0x3007 != 0, bytes & 7 < 4 || bytes & 0x3007 == 4 else { return false }
                offset += 4
            } else {
                return false
            }
        }
    }

    /// Four bytes with the first in the lowest place, and zeros after the end.
    @inline(__always)
    private func fourBytes(at offset: Int) -> UInt32 {
        if offset + 4 <= count {
            return unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        return UInt32(self[offset]) | UInt32(self[offset + 1]) << 8 | UInt32(self[offset + 2]) << 16
    }
}
