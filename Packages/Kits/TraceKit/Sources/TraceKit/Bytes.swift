import Capabilities
import JSON

extension [UInt8] {
    /// Appends the bytes of a literal.
    @inline(__always)
    mutating func add(_ text: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a text in UTF-8.
    mutating func add(_ text: String) { append(contentsOf: text.utf8) }

    /// Appends a number in 16 lower-case digits.
    mutating func addHexadecimal(_ word: UInt64) {
        var shift = 60
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 15
            append(digit < 10 ? digit + 48 : digit + 87)
            shift -= 4
        }
    }

    /// Appends a number in decimal digits.
    mutating func addDecimal(_ number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        addDecimal(number.magnitude)
    }

    /// Appends a number in decimal digits.
    mutating func addDecimal(_ number: UInt64) {
        let start = count
        var rest = number
        repeat {
            append(UInt8(truncatingIfNeeded: rest % 10) + 48)
            rest /= 10
        } while rest > 0
        self[start...].reverse()
    }

    /// Appends a text as a string of JSON.
    mutating func addJSON(_ text: String) { JSON.string(text).write(into: &self) }

    /// Appends attributes as an object of JSON. A number that JSON does not have becomes a text.
    mutating func addJSON(_ attributes: JSONObject) {
        append(UInt8(ascii: "{"))
        var isFirst = true
        for (key, value) in attributes {
            if !isFirst { append(UInt8(ascii: ",")) }
            isFirst = false
            addJSON(key)
            append(UInt8(ascii: ":"))
            if case .double(let number) = value, !number.isFinite {
                addJSON(number.word)
            } else {
                value.write(into: &self)
            }
        }
        append(UInt8(ascii: "}"))
    }
}

extension Double {
    /// What JSON calls a number that it does not have.
    var word: String { isNaN ? "NaN" : self < 0 ? "-Infinity" : "Infinity" }
}

extension UInt64 {
    /// Reads digits in either case, without a sign.
    init?(hexadecimal digits: Span<UInt8>) {
        var value: UInt64 = 0
        for place in digits.indices {
            let digit = digits[place]
            switch digit {
            case 48...57: value = value << 4 | UInt64(digit - 48)
            case 65...70: value = value << 4 | UInt64(digit - 55)
            case 97...102: value = value << 4 | UInt64(digit - 87)
            default: return nil
            }
        }
        self = value
    }
}

extension Duration {
    /// The same in nanoseconds, as far as 64 bits reach: 292 years.
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOver) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooMuch || isOver ? (seconds < 0 ? .min : .max) : sum
    }
}

extension SpanRecord.Kind {
    /// All kinds.
    static let all: [SpanRecord.Kind] = [.internal, .server, .client, .producer, .consumer]

    /// Its name in lines and tables.
    var literal: StaticString {
        switch self {
        case .internal: "internal"
        case .server: "server"
        case .client: "client"
        case .producer: "producer"
        case .consumer: "consumer"
        }
    }

    /// The same as a text.
    var word: String { "\(literal)" }
}
