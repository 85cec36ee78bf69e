extension JSONWriter {
    /// Writes a string with quotes around it, escaping what JSON forbids and the two line breaks of JavaScript.
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

    /// Whether eight bytes from here on stand for themselves.
    @inline(__always)
    private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
        guard place + 8 <= bytes.count else { return false }
        let raw = UnsafeRawBufferPointer(bytes)
        let word = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        return word & JSONWord.highBits | JSONWord.special(in: word) == 0
    }

    /// How many bytes the character here takes if it needs an escape, or zero.
    @inline(__always)
    private static func escapedLength(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int, _ quote: UInt8) -> Int {
        switch unsafe bytes[place] {
        case ..<JSONByte.space, quote, JSONByte.backslash: 1
        // U+2028 and U+2029; a string is UTF-8, so that this byte has two after it.
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
