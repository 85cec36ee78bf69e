public import JSON

extension Duration: InputValue, OutputValue {
    public static var schema: Schema { .duration }

    /// The shortest usual form: `250ms`, `30s`, `1m30s`, `2h`.
    public var json: JSON { .string(words) }

    public init(json: JSON) throws(ValueError) {
        if let value = json.double.flatMap(Duration.init(exactSeconds:)) {
            self = value
        } else if let value = json.string.flatMap(Duration.init(words:)) {
            self = value
        } else {
            throw ValueError("needs a duration such as 250ms, 30s or 1m30s")
        }
    }

    /// Reads `250ms`, `30s`, `1m30s`, `2h`, `1d`; a plain number is seconds. Nil for anything else.
    public init?(words: String) {
        if let seconds = Double(words) {
            self.init(exactSeconds: seconds)
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
            guard let number = Double(digits), let scale = Self.units[String(unit)],
                let part = Duration(exactSeconds: number * scale)
            else { return nil }
            total += part
            guard total < .seconds(Self.limit) else { return nil }
        }
        self = total
    }

    private static let units: [String: Double] = [
        "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400,
    ]

    private static let limit = 1_000_000_000_000

    /// Exact to the microsecond, because a product such as 1001 × 0.001 has no exact binary fraction.
    private init?(exactSeconds seconds: Double) {
        guard seconds >= 0, seconds < Double(Self.limit) else { return nil }
        let whole = seconds.rounded(.down)
        self = .seconds(Int64(whole)) + .microseconds(Int64(((seconds - whole) * 1e6).rounded()))
    }

    /// Whole milliseconds without the fraction, clamped to the range of `Int`.
    public var milliseconds: Int {
        let (seconds, attoseconds) = components
        let (milliseconds, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        if isTooLong { return seconds < 0 ? .min : .max }
        return Int(milliseconds + attoseconds / 1_000_000_000_000_000)
    }

    /// The shortest usual form that is exact, as settings and options accept it.
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

    /// Rounded, for people: `10 µs`, `0.5 ms`, `3.2 s`, `1 min 7 s`, `2 h 5 min`.
    public var roundedWords: String { Self.roundedWords(seconds: self / .seconds(1)) }

    /// The same for a number of seconds.
    public static func roundedWords(seconds: Double) -> String {
        func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
        switch seconds {
        case ..<0.000_000_5: return "0 s"
        case ..<0.000_1: return "\(Int((seconds * 1_000_000).rounded())) µs"
        case ..<0.009_95: return "\(tenths(seconds * 1_000)) ms"
        case ..<0.999_5: return "\(Int((seconds * 1_000).rounded())) ms"
        case ..<9.95: return "\(tenths(seconds)) s"
        case ..<59.5: return "\(Int(seconds.rounded())) s"
        case ..<3_599.5:
            let whole = Int(seconds.rounded())
            return "\(whole / 60) min" + (whole % 60 == 0 ? "" : " \(whole % 60) s")
        case ..<1e12:
            let minutes = Int((seconds / 60).rounded())
            return "\(minutes / 60) h" + (minutes % 60 == 0 ? "" : " \(minutes % 60) min")
        default: return "\(seconds) s"
        }
    }
}
