/// Makes text from outside harmless to a terminal: what would command it is shown as a visible character instead.
///
/// C0 controls and DEL become their control pictures (`␛`, `␇`, `␡`); C1 controls, bidirectional overrides and
/// isolates (U+202A–202E, U+2066–2069) and invalid UTF-8 become `�`. Tab and newline stay, CR LF becomes LF.
public enum Sanitizer {
    /// `text` without anything that a terminal would obey; the same string when there was nothing.
    public static func sanitize(_ text: String) -> String {
        var text = text
        text.makeContiguousUTF8()
        let bytes = text.utf8.span
        let clean = cleanPrefix(of: bytes, from: 0)
        if clean == bytes.count { return text }
        var stream = StreamSanitizer()
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 16)
        stream.append(bytes, to: &output)
        stream.finish(into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// The end of the harmless bytes from `start` on; only a byte that may begin something harmful stops it.
    static func cleanPrefix(of bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if byte >= 0x20 && byte < 0x7F || byte == 0x0A || byte == 0x09 {
                index += 1
            } else if byte < 0x80 {
                return index
            } else {
                let length = cleanSequence(in: bytes, at: index)
                if length == 0 { return index }
                index += length
            }
        }
        return index
    }

    /// The length of the valid and harmless multi-byte sequence at `index`, or nothing.
    private static func cleanSequence(in bytes: Span<UInt8>, at index: Int) -> Int {
        var decoder = UTF8Decoder()
        var position = index
        while position < bytes.count {
            switch decoder.receive(bytes[position]) {
            case .more: position += 1
            case .scalar(let scalar): return isHarmful(scalar) ? 0 : position + 1 - index
            case .invalid, .invalidThenRetry: return 0
            }
        }
        return 0
    }

    static func isHarmful(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x09, 0x0A: false
        case 0x00...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
