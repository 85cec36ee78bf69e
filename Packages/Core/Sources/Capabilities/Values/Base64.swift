/// Base64 (RFC 4648, section 4), as used by `Sec-WebSocket-Accept`, `Authorization` and PEM.
public enum Base64 {
    /// Encodes bytes, with padding.
    public static func encode(_ bytes: [UInt8]) -> String { Base64Alphabet.standard.encode(bytes, isPadded: true) }

    /// Decodes a text, or returns nil if it is not valid Base64. Line breaks and missing padding are accepted, as in
    /// mail and pasted text; padding that is present must be correct.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var letters = ""
        letters.reserveCapacity(text.utf8.count)
        for character in text.unicodeScalars {
            switch character {
            case "\n", "\r": continue
            case "+": letters.unicodeScalars.append("-")
            case "/": letters.unicodeScalars.append("_")
            case "-", "_": return nil
            default: letters.unicodeScalars.append(character)
            }
        }
        let padding = letters.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding == 0 || padding <= 2 && letters.utf8.count % 4 == 0 else { return nil }
        return Base64URL.decode(letters.dropLast(padding))
    }
}

/// Base64 for addresses, without padding (RFC 4648, section 5).
public enum Base64URL {
    /// Encodes bytes, without padding.
    public static func encode(_ bytes: [UInt8]) -> String { Base64Alphabet.forAddresses.encode(bytes, isPadded: false) }

    /// Decodes a text, or returns nil if it is not valid.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        var (held, count): (UInt32, Int) = (0, 0)
        for character in text.utf8 {
            guard let value = value(character) else { return nil }
            held = held << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: held >> UInt32(count)))
            }
        }
        // Unused bits must be zero, otherwise two texts would decode to the same bytes.
        return held & (1 << UInt32(count) - 1) == 0 ? bytes : nil
    }

    private static func value(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

/// One of the two alphabets of Base64.
struct Base64Alphabet: Sendable {
    private let letters: [UInt8]

    static let standard = Base64Alphabet("+/")
    static let forAddresses = Base64Alphabet("-_")

    private init(_ last: String) {
        letters = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
    }

    func encode(_ bytes: [UInt8], isPadded: Bool) -> String {
        unsafe String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
            var end = 0
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let rest = bytes.count - start
                var group = Int(bytes[start]) << 16
                if rest > 1 { group |= Int(bytes[start + 1]) << 8 }
                if rest > 2 { group |= Int(bytes[start + 2]) }
                unsafe text[end] = letters[group >> 18]
                unsafe text[end + 1] = letters[group >> 12 & 63]
                unsafe text[end + 2] = rest > 1 ? letters[group >> 6 & 63] : UInt8(ascii: "=")
                unsafe text[end + 3] = rest > 2 ? letters[group & 63] : UInt8(ascii: "=")
                end += 4
            }
            let padding = isPadded || bytes.count % 3 == 0 ? 0 : 3 - bytes.count % 3
            return end - padding
        }
    }
}
