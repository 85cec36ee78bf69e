import Capabilities

/// Ids for projects, sessions and turns: UUIDs that start with the time, so that they sort by it.
enum Identifier {
    static func make(at time: Timestamp) -> String {
        var random = SystemRandomNumberGenerator()
        return make(at: time, using: &random)
    }

    /// "UUIDv7 … 48-bit big-endian unsigned number of the Unix Epoch timestamp in milliseconds", then the version, the
    /// variant and 74 random bits (RFC 9562, 5.7).
    static func make(at time: Timestamp, using random: inout some RandomNumberGenerator) -> String {
        let milliseconds = UInt64(max(0, time.microseconds) / 1000)
        let upper = milliseconds << 16 | 0x7000 | random.next() & 0x0FFF
        let lower = random.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = Hexadecimal.digits(of: upper) + Hexadecimal.digits(of: lower)
        var text = ""
        for (place, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(place) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}
