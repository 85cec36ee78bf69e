/// Bytes as pairs of hexadecimal digits, and numbers with a fixed count of them.
public enum Hexadecimal {
    /// "00ff". With `separator` ":" and `uppercase`, "00:FF", the usual format of fingerprints.
    public static func encode(_ bytes: [UInt8], separator: String = "", uppercase: Bool = false) -> String {
        let digits = Array((uppercase ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
        let between = Array(separator.utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * (2 + between.count))
        for byte in bytes {
            if !text.isEmpty { text += between }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A number in this many digits, with leading zeros; more only for a number that needs them.
    public static func digits(of number: UInt64, count: Int = 16) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }

    /// Decodes pairs of digits in either case, without separators. Nil for anything else.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.utf8 {
            guard let digit = digit(character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    /// The value of a digit in either case.
    static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
