import JSON

/// A number as it is written in decimal: digits without zeros at either end, and a power of ten.
///
/// A number with a fraction counts as its shortest notation, so that 0.3 is a multiple of 0.1.
struct ExactNumber: Hashable {
    let isNegative: Bool
    /// The digits 0 to 9; empty for zero.
    let digits: [UInt8]
    let exponent: Int

    /// Nil if the value is no number.
    init?(_ value: JSON) {
        switch value {
        case .int(let number): self.init(text: String(number))
        case .big(let digits): self.init(text: digits)
        case .double(let number): self.init(text: number.description)
        default: return nil
        }
    }

    /// Reads what `Double.description` and JSON's integers look like.
    private init(text: String) {
        var digits: [UInt8] = []
        var (exponent, isNegative, isFraction) = (0, false, false)
        var written: (isNegative: Bool, digits: Int)?
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"):
                if written == nil { isNegative = true } else { written?.isNegative = true }
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): written = (false, 0)
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = byte - UInt8(ascii: "0")
                if let known = written {
                    written?.digits = min(known.digits * 10 + Int(digit), 1 << 20)
                } else {
                    digits.append(digit)
                    if isFraction { exponent -= 1 }
                }
            default: break
            }
        }
        if let written { exponent += written.isNegative ? -written.digits : written.digits }
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        let start = digits.firstIndex { $0 != 0 } ?? digits.endIndex
        self.digits = Array(digits[start...])
        self.exponent = self.digits.isEmpty ? 0 : exponent
        self.isNegative = isNegative && !self.digits.isEmpty
    }

    private func isSmallerInSize(than other: ExactNumber) -> Bool {
        let (place, otherPlace) = (digits.count + exponent, other.digits.count + other.exponent)
        if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
        return place == otherPlace ? digits.lexicographicallyPrecedes(other.digits) : place < otherPlace
    }

    private static func isLess(_ left: ExactNumber, _ right: ExactNumber) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.isSmallerInSize(than: left) : left.isSmallerInSize(than: right)
    }

    /// Whether the first number is smaller than the second; false for other values.
    static func isLess(_ left: JSON, _ right: JSON) -> Bool {
        switch (left, right) {
        case (.int(let left), .int(let right)): return left < right
        case (.double(let left), .double(let right)): return left < right
        case (.int(let left), .double(let right)) where isExact(left): return Double(left) < right
        case (.double(let left), .int(let right)) where isExact(right): return left < Double(right)
        default:
            guard let left = ExactNumber(left), let right = ExactNumber(right) else { return false }
            return isLess(left, right)
        }
    }

    /// Whether both are the same number: 1 and 1.0 are.
    static func areEqual(_ left: JSON, _ right: JSON) -> Bool {
        switch (left, right) {
        case (.int(let left), .int(let right)): return left == right
        case (.double(let left), .double(let right)): return left == right
        case (.int(let left), .double(let right)) where isExact(left): return Double(left) == right
        case (.double(let left), .int(let right)) where isExact(right): return left == Double(right)
        default:
            guard let left = ExactNumber(left) else { return false }
            return left == ExactNumber(right)
        }
    }

    /// Whether a `Double` holds the number exactly.
    private static func isExact(_ number: Int) -> Bool {
        number.magnitude <= 1 << 53
    }
}

/// The divisor of `multipleOf`.
struct Divisor {
    let number: JSON
    private let divisor: UInt64
    private let exponent: Int
    /// The number itself, if it is whole and fits.
    private let whole: Int?

    /// Nil unless it is a positive number with at most 19 digits.
    init?(_ number: JSON) {
        guard let exact = ExactNumber(number), !exact.isNegative, !exact.digits.isEmpty, exact.digits.count <= 19 else {
            return nil
        }
        self.number = number
        divisor = exact.digits.reduce(0) { $0 * 10 + UInt64($1) }
        exponent = exact.exponent
        whole =
            switch number {
            case .int(let number): number
            case .double(let number): Int(exactly: number)
            default: nil
            }
    }

    /// Whether a number is a multiple of it.
    func divides(_ value: JSON) -> Bool {
        if case .int(let value) = value, let whole { return value % whole == 0 }
        guard let value = ExactNumber(value) else { return true }
        if value.digits.isEmpty { return true }
        // Its digits do not end with a zero, so that they are no multiple of a number with more zeros.
        guard value.exponent >= exponent else { return false }
        var rest: UInt64 = 0
        for digit in value.digits { rest = remainder(rest, 10, plus: UInt64(digit)) }
        // 10 to the power of what is left, by squaring.
        var (power, base) = (value.exponent - exponent, 10 % divisor)
        while power > 0, rest != 0 {
            if power & 1 == 1 { rest = remainder(rest, base, plus: 0) }
            base = remainder(base, base, plus: 0)
            power >>= 1
        }
        return rest == 0
    }

    private func remainder(_ factor: UInt64, _ other: UInt64, plus rest: UInt64) -> UInt64 {
        let (high, low) = factor.multipliedFullWidth(by: other)
        let (sum, carries) = low.addingReportingOverflow(rest)
        return divisor.dividingFullWidth(((high + (carries ? 1 : 0)) % divisor, sum)).remainder
    }
}
