extension JSONWriter {
    /// Writes a string with quotes around it, escaping what JSON forbids and the two line breaks of JavaScript.
    mutating func write(_ text: String, quote: UInt8 = JSONByte.quote) {
        let span = text.utf8.span
        output.append(quote)
        unsafe span.withUnsafeBufferPointer { bytes in
            var start = 0
            var place = 0
            while place < bytes.count {
                let byte = unsafe bytes[place]
                var length = 1
                var escape: [UInt8]?
                if byte < JSONByte.space || byte == quote || byte == JSONByte.backslash {
                    escape = Self.escape(byte)
                } else if byte == 0xE2, unsafe bytes[place + 1] == 0x80, unsafe bytes[place + 2] | 1 == 0xA9 {
                    escape = Array((unsafe bytes[place + 2] == 0xA8 ? "\\u2028" : "\\u2029").utf8)
                    length = 3
                }
                if let escape {
                    unsafe output.append(contentsOf: bytes[start..<place])
                    output.append(contentsOf: escape)
                    start = place + length
                }
                place += length
            }
            unsafe output.append(contentsOf: bytes[start...])
        }
        output.append(quote)
    }

    private static func escape(_ byte: UInt8) -> [UInt8] {
        switch byte {
        case JSONByte.quote, JSONByte.apostrophe, JSONByte.backslash: [JSONByte.backslash, byte]
        case 0x08: Array("\\b".utf8)
        case 0x0C: Array("\\f".utf8)
        case JSONByte.lineFeed: Array("\\n".utf8)
        case JSONByte.carriageReturn: Array("\\r".utf8)
        case JSONByte.tab: Array("\\t".utf8)
        default: Array((byte < 0x10 ? "\\u000" : "\\u00").utf8) + Array(String(byte, radix: 16).utf8)
        }
    }
}
