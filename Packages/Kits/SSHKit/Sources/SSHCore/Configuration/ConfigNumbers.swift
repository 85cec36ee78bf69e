import Glibc

/// Numbers, times and sizes as OpenSSH reads them.
enum ConfigNumbers {
    /// Why a text is not a number that is allowed, in the words of `strtonum`.
    enum Problem: String, Error {
        case missing, invalid
        case tooSmall = "too small"
        case tooLarge = "too large"
    }

    /// A whole number in decimal digits, with what C accepts in front of it.
    static func integer(_ text: String?, in range: ClosedRange<Int>) throws(Problem) -> Int {
        guard let text, !text.isEmpty else { throw .missing }
        var digits = Array(text.utf8).drop(while: ASCII.isSpace)
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        guard !digits.isEmpty, digits.allSatisfy(isDigit) else { throw .invalid }
        let magnitude = number(of: digits)
        let value = isNegative ? magnitude.map { -$0 } : magnitude
        guard let value else { throw isNegative ? .tooSmall : .tooLarge }
        if value < range.lowerBound { throw .tooSmall }
        if value > range.upperBound { throw .tooLarge }
        return value
    }

    /// A port by its number, or by its name in the system's list of services. Nil if it is neither.
    static func port(_ text: String) -> Int? {
        do throws(Problem) {
            let port = try integer(text, in: 0...65_535)
            return port > 0 ? port : nil
        } catch {
            return service(text)
        }
    }

    private static func service(_ name: String) -> Int? {
        var record = unsafe servent()
        var found: UnsafeMutablePointer<servent>?
        var buffer = [CChar](repeating: 0, count: 4_096)
        return unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress,
                unsafe getservbyname_r(name, "tcp", &record, start, buffer.count, &found) == 0, unsafe found != nil
            else { return nil }
            let port = UInt16(truncatingIfNeeded: unsafe record.s_port)
            return port == 0 ? nil : Int(UInt16(bigEndian: port))
        }
    }

    /// Seconds: numbers, each followed by a unit or by nothing: `90`, `1h30m`. Nil if it is none.
    static func seconds(_ text: String) -> Int? {
        var rest = Array(text.utf8)[...]
        guard !rest.isEmpty else { return nil }
        var total = 0
        while !rest.isEmpty {
            rest = rest.drop(while: ASCII.isSpace)
            let isNegative = rest.first == UInt8(ascii: "-")
            if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
            let digits = rest.prefix(while: isDigit)
            guard !digits.isEmpty, let count = number(of: digits), !isNegative || count == 0 else { return nil }
            rest = rest[digits.endIndex...]
            var unit = 1
            if let letter = rest.popFirst() {
                guard let known = units[letter | 0x20] else { return nil }
                unit = known
            }
            guard count <= largest / unit, total <= largest - count * unit else { return nil }
            total += count * unit
        }
        return total
    }

    /// The largest value of C's int.
    private static let largest = Int(Int32.max)
    private static let units: [UInt8: Int] = [
        UInt8(ascii: "s"): 1, UInt8(ascii: "m"): 60, UInt8(ascii: "h"): 3_600, UInt8(ascii: "d"): 86_400,
        UInt8(ascii: "w"): 604_800,
    ]

    /// A size with a unit of powers of 1024, as `scan_scaled` reads it: `1G`, `1.5M`. Nil if it is none.
    static func size(_ text: String) -> Int? {
        var rest = Array(text.utf8).drop(while: ASCII.isSpace)
        var sign: Int?
        while let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            guard sign == nil else { return nil }
            sign = first == UInt8(ascii: "-") ? -1 : 1
            rest.removeFirst()
        }
        let whole = rest.prefix(while: isDigit)
        rest = rest[whole.endIndex...]
        var fraction: ArraySlice<UInt8> = []
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix(while: isDigit)
            rest = rest[fraction.endIndex...]
            if rest.first == UInt8(ascii: ".") { return nil }
        }
        // "MAX_DIGITS (SCALE_LENGTH * 3)" (fmt_scaled.c), which is 21.
        guard whole.count < 21, let count = whole.isEmpty ? 0 : number(of: whole) else { return nil }
        guard let letter = rest.popFirst() else { return (sign ?? 1) * count }
        guard let power = Array("bkmgtpe".utf8).firstIndex(of: letter | 0x20) else { return nil }
        if let after = rest.first, isDigit(after) || (0x61...0x7A).contains(after | 0x20) { return nil }
        return scaled(count, fraction, by: 1 << (10 * power)).map { (sign ?? 1) * $0 }
    }

    private static func scaled(_ whole: Int, _ fraction: ArraySlice<UInt8>, by scale: Int) -> Int? {
        let (product, overflows) = whole.multipliedReportingOverflow(by: scale)
        guard !overflows, fraction.count < 19, var part = fraction.isEmpty ? 0 : number(of: fraction) else {
            return nil
        }
        var digits = fraction.count
        while part >= Int.max / scale {
            part /= 10
            digits -= 1
        }
        part *= scale
        for _ in 0..<max(digits, 0) { part /= 10 }
        let (sum, isTooLarge) = product.addingReportingOverflow(part)
        return isTooLarge ? nil : sum
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Nil if it does not fit.
    private static func number(of digits: ArraySlice<UInt8>) -> Int? {
        digits.isEmpty ? nil : Int(String(decoding: digits, as: UTF8.self))
    }
}
