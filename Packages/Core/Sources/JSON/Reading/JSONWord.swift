/// Eight bytes at once, the first in the lowest place.
enum JSONWord {
    static let highBits: UInt64 = 0x8080_8080_8080_8080
    private static let lowBits: UInt64 = 0x0101_0101_0101_0101

    /// The high bit of the first backslash; bits above it mean nothing.
    @inline(__always)
    static func backslash(in word: UInt64) -> UInt64 {
        let backslashes = word ^ (lowBits &* UInt64(JSONByte.backslash))
        return (backslashes &- lowBits) & ~backslashes & highBits
    }

    /// The high bit of the first byte that is a quote, a backslash or a control character; bits above it mean nothing.
    @inline(__always)
    static func special(in word: UInt64) -> UInt64 {
        let quotes = word ^ (lowBits &* UInt64(JSONByte.quote))
        let controls = (word &- (lowBits &* UInt64(JSONByte.space))) & ~word
        return ((((quotes &- lowBits) & ~quotes) | controls) & highBits) | backslash(in: word)
    }
}
