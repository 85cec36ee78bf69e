/// A date, a time, or both, as RFC 3339 writes them.
struct TOMLMoment {
    /// With `T` between the date and the time, and `Z`.
    let text: String

    /// Nil for what is none, such as the 30th of February.
    init?(_ written: String) {
        let bytes = Array(written.utf8)
        var scanner = Scanner(bytes: bytes[...])
        var text = ""
        let hasDate = bytes.count >= 10 && bytes[4] == UInt8(ascii: "-")
        if hasDate {
            guard let date = scanner.date() else { return nil }
            text = date
            if scanner.isAtEnd {
                self.text = text
                return
            }
            guard scanner.take(where: { [0x54, 0x74, 0x20].contains($0) }) != nil else { return nil }
            text += "T"
        }
        guard let time = scanner.time() else { return nil }
        text += time
        if hasDate, !scanner.isAtEnd {
            guard let offset = scanner.offset() else { return nil }
            text += offset
        }
        guard scanner.isAtEnd else { return nil }
        self.text = text
    }
}

/// Takes parts of a date from the beginning of a text.
private struct Scanner {
    var bytes: ArraySlice<UInt8>

    var isAtEnd: Bool { bytes.isEmpty }

    mutating func take(where isWanted: (UInt8) -> Bool) -> UInt8? {
        guard let byte = bytes.first, isWanted(byte) else { return nil }
        bytes.removeFirst()
        return byte
    }

    private mutating func take(_ wanted: Unicode.Scalar) -> Bool { take { $0 == UInt8(ascii: wanted) } != nil }

    private mutating func number(_ count: Int, _ range: ClosedRange<Int>) -> Int? {
        let digits = bytes.prefix(count)
        guard digits.count == count, digits.allSatisfy(TOMLReader.isDigit) else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        guard range.contains(number) else { return nil }
        bytes = bytes.dropFirst(count)
        return number
    }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    mutating func date() -> String? {
        guard let year = number(4, 0...9999), take("-"), let month = number(2, 1...12), take("-"),
            let day = number(2, 1...31)
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= days[month - 1] else { return nil }
        return "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))"
    }

    mutating func time() -> String? {
        guard let hour = number(2, 0...23), take(":"), let minute = number(2, 0...59), take(":"),
            let second = number(2, 0...59)
        else { return nil }
        let text = "\(Self.padded(hour)):\(Self.padded(minute)):\(Self.padded(second))"
        guard take(".") else { return text }
        let digits = bytes.prefix(while: TOMLReader.isDigit)
        guard !digits.isEmpty else { return nil }
        bytes = bytes.dropFirst(digits.count)
        return "\(text).\(String(decoding: digits, as: UTF8.self))"
    }

    mutating func offset() -> String? {
        if take(where: { $0 == UInt8(ascii: "Z") || $0 == UInt8(ascii: "z") }) != nil { return "Z" }
        guard let sign = take(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }),
            let hour = number(2, 0...23), take(":"), let minute = number(2, 0...59)
        else { return nil }
        return "\(Character(Unicode.Scalar(sign)))\(Self.padded(hour)):\(Self.padded(minute))"
    }
}
