/// Bytes as `%20` in addresses and forms (RFC 3986, section 2.1).
public enum PercentEncoding {
    /// Escapes every byte but those that are kept: by default the unreserved ones, so that the result is valid anywhere
    /// in an address or a form.
    public static func encode(
        _ text: String, uppercase: Bool = true, keeping isKept: (UInt8) -> Bool = PercentEncoding.isUnreserved
    ) -> String {
        let digits = Array((uppercase ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isKept(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes a text; nil for a malformed escape or invalid UTF-8. In queries and forms, a plus is a space.
    public static func decode(_ text: Substring, plusIsSpace: Bool = false) -> String? {
        let isPlain = text.utf8.allSatisfy { byte in
            byte != UInt8(ascii: "%") && !(plusIsSpace && byte == UInt8(ascii: "+"))
        }
        if isPlain { return String(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Hexadecimal.digit),
                    let low = rest.popFirst().flatMap(Hexadecimal.digit)
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Whether a byte is a letter, a digit or one of `-._~`, which mean nothing special anywhere.
    public static func isUnreserved(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "-._~".utf8.contains(byte)
    }

    /// Whether a byte is a letter or a digit of ASCII.
    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
