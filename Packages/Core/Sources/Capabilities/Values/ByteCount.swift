public import JSON

/// A number of bytes, read from `4096`, `64KiB` or `10MB`.
public struct ByteCount: InputValue, OutputValue, Hashable, Comparable {
    /// The number, for arithmetic.
    public var bytes: Int

    /// Takes any number; `init(json:)` refuses negative ones.
    public init(_ bytes: Int) {
        self.bytes = bytes
    }

    public static var schema: Schema { .size(nil) }
    public var json: JSON { .int(bytes) }

    public init(json: JSON) throws(ValueError) {
        if let bytes = json.int, bytes >= 0 {
            self.init(bytes)
        } else if let value = json.string.flatMap(ByteCount.init(words:)) {
            self = value
        } else {
            throw ValueError("needs a size such as 4096, 64KiB or 10MB")
        }
    }

    /// Reads a number with an optional unit: B, kB, MB, GB, TB (thousands) or KiB, MiB, GiB, TiB, K, M, G, T (1024).
    public init?(words: String) {
        let digits = words.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let unit = words.dropFirst(digits.count).drop { $0 == " " }.lowercased()
        guard let number = Double(digits), let scale = Self.units[unit], number * scale < 9e18 else { return nil }
        self.init(Int(number * scale))
    }

    private static let units: [String: Double] = [
        "": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
        "k": 1024, "m": 1_048_576, "g": 1_073_741_824, "t": 1_099_511_627_776,
        "kib": 1024, "mib": 1_048_576, "gib": 1_073_741_824, "tib": 1_099_511_627_776,
    ]

    /// The size for a person: `512 B`, `64.0 KiB`, `1.5 GiB`.
    public var words: String {
        guard bytes >= 1024 else { return "\(bytes) B" }
        var value = Double(bytes)
        var unit = "B"
        // A value that would be shown as 1024.0 is shown as 1.0 of the next unit.
        for next in ["KiB", "MiB", "GiB", "TiB"] where value >= 1023.95 {
            value /= 1024
            unit = next
        }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }

    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}
