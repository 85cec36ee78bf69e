/// The bytes with a meaning in JSON.
enum JSONByte {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let apostrophe: UInt8 = 0x27
    static let asterisk: UInt8 = 0x2A
    static let plus: UInt8 = 0x2B
    static let comma: UInt8 = 0x2C
    static let minus: UInt8 = 0x2D
    static let dot: UInt8 = 0x2E
    static let slash: UInt8 = 0x2F
    static let zero: UInt8 = 0x30
    static let nine: UInt8 = 0x39
    static let colon: UInt8 = 0x3A
    static let openBracket: UInt8 = 0x5B
    static let backslash: UInt8 = 0x5C
    static let closeBracket: UInt8 = 0x5D
    static let openBrace: UInt8 = 0x7B
    static let closeBrace: UInt8 = 0x7D

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == space || byte == lineFeed || byte == carriageReturn || byte == tab
    }

    /// The value of a hexadecimal digit.
    static func hexadecimal(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x41...0x46: UInt32(byte - 0x41 + 10)
        case 0x61...0x66: UInt32(byte - 0x61 + 10)
        default: nil
        }
    }
}

/// Eight bytes in one integer, the first in the lowest bits.
enum JSONWord {
    static let highBits: UInt64 = 0x8080_8080_8080_8080
    private static let lowBits: UInt64 = 0x0101_0101_0101_0101

    /// The lowest bit set is the high bit of the first backslash. Ignore the bits above it.
    @inline(__always)
    static func backslash(in word: UInt64) -> UInt64 {
        let backslashes = word ^ (lowBits &* UInt64(JSONByte.backslash))
        return (backslashes &- lowBits) & ~backslashes & highBits
    }

    /// The lowest bit set is the high bit of the first quote, backslash or control character. Ignore the bits above it.
    @inline(__always)
    static func special(in word: UInt64) -> UInt64 {
        let quotes = word ^ (lowBits &* UInt64(JSONByte.quote))
        let controls = (word &- (lowBits &* UInt64(JSONByte.space))) & ~word
        return ((((quotes &- lowBits) & ~quotes) | controls) & highBits) | backslash(in: word)
    }
}
