public import JSON

extension Duration: InputValue, OutputValue {
    public static var schema: Schema { .duration }

    /// The shortest usual way of writing it: `250ms`, `30s`, `1m30s`, `2h`.
    public var json: JSON { .string(words) }

    public init(json: JSON) throws(ValueError) {
        if let seconds = json.double, seconds >= 0, seconds < 1e12 {
            self = .seconds(seconds)
        } else if let value = json.string.flatMap(Duration.init(words:)) {
            self = value
        } else {
            throw ValueError("needs a duration such as 250ms, 30s or 1m30s")
        }
    }

    /// Reads `250ms`, `30s`, `1m30s`, `2h`, `1d`; a plain number is seconds. Nil for anything else.
    public init?(words: String) {
        if let seconds = Double(words) {
            guard seconds >= 0, seconds < 1e12 else { return nil }
            self = .seconds(seconds)
            return
        }
        var total = Duration.zero
        var rest = words[...]
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard let number = Double(digits), number < 1e12, let scale = Self.units[String(unit)] else { return nil }
            total += .seconds(number * scale)
        }
        self = total
    }

    private static let units: [String: Double] = [
        "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400,
    ]

    /// Whole milliseconds, rounded down.
    public var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: seconds) * 1000 + Int(clamping: attoseconds / 1_000_000_000_000_000)
    }

    /// The shortest usual way of writing it.
    public var words: String {
        let (seconds, attoseconds) = components
        let microseconds = attoseconds / 1_000_000_000_000
        if seconds == 0, microseconds % 1000 != 0 { return "\(microseconds)us" }
        if seconds == 0, microseconds != 0 { return "\(microseconds / 1000)ms" }
        if microseconds != 0 { return "\(Double(seconds) + Double(microseconds) / 1e6)s" }
        var text = ""
        for (unit, size) in [("h", Int64(3600)), ("m", 60), ("s", 1)] {
            let count = (unit == "h" ? seconds : seconds % (size * 60)) / size
            if count != 0 { text += "\(count)\(unit)" }
        }
        return text.isEmpty ? "0s" : text
    }
}
