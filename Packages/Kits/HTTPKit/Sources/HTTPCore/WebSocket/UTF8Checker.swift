/// Checks that bytes are UTF-8 as they come, in parts cut anywhere; what cannot become valid any more is seen at once.
struct UTF8Checker: Sendable {
    /// How many bytes the character that has begun still needs.
    private var needed = 0
    /// What the next of them may be: the first after the start byte has a narrower range for some.
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    /// Whether what came so far ends with a whole character.
    var isComplete: Bool { needed == 0 }

    /// Takes the next part; false when no continuation can make it valid.
    mutating func accept(_ buffer: UnsafeRawBufferPointer) -> Bool {
        guard let base = buffer.baseAddress else { return true }
        var index = 0
        while index < buffer.count {
            if needed == 0 {
                // Most text is ASCII for long stretches.
                while index + 8 <= buffer.count,
                    unsafe base.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
                {
                    index += 8
                }
                guard index < buffer.count else { break }
            }
            guard accept(unsafe base.load(fromByteOffset: index, as: UInt8.self)) else { return false }
            index += 1
        }
        return true
    }

    private mutating func accept(_ byte: UInt8) -> Bool {
        guard needed > 0 else { return begin(byte) }
        guard byte >= lower, byte <= upper else { return false }
        (needed, lower, upper) = (needed - 1, 0x80, 0xBF)
        return true
    }

    /// Takes the first byte of a character. Overlong forms, surrogates and what is above U+10FFFF are left out here.
    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: needed = 1
        case 0xE0: (needed, lower) = (2, 0xA0)
        case 0xED: (needed, upper) = (2, 0x9F)
        case 0xE1...0xEF: needed = 2
        case 0xF0: (needed, lower) = (3, 0x90)
        case 0xF1...0xF3: needed = 3
        case 0xF4: (needed, upper) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
