/// Decodes UTF-8 byte by byte, so that a sequence may be cut anywhere between two chunks.
struct UTF8Decoder: Sendable {
    enum Step: Equatable {
        /// The byte belongs to a sequence that is not finished.
        case more
        /// The byte completed this scalar.
        case scalar(UInt32)
        /// The byte cannot begin a sequence.
        case invalid
        /// The unfinished sequence before this byte is invalid; the byte itself has to be received again.
        case invalidThenRetry
    }

    private var value: UInt32 = 0
    private var missing = 0
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether bytes of an unfinished sequence were received.
    var isInside: Bool { missing > 0 }

    mutating func receive(_ byte: UInt8) -> Step {
        if missing == 0 { return begin(byte) }
        guard allowed.contains(byte) else {
            missing = 0
            return .invalidThenRetry
        }
        allowed = 0x80...0xBF
        value = value << 6 | UInt32(byte & 0x3F)
        missing -= 1
        return missing == 0 ? .scalar(value) : .more
    }

    /// The ranges of the second byte keep out overlong forms, surrogates and values above U+10FFFF (RFC 3629, section 4).
    private mutating func begin(_ byte: UInt8) -> Step {
        switch byte {
        case 0x00...0x7F: return .scalar(UInt32(byte))
        case 0xC2...0xDF: start(byte & 0x1F, missing: 1)
        case 0xE0: start(byte & 0x0F, missing: 2, second: 0xA0...0xBF)
        case 0xED: start(byte & 0x0F, missing: 2, second: 0x80...0x9F)
        case 0xE1...0xEF: start(byte & 0x0F, missing: 2)
        case 0xF0: start(byte & 0x07, missing: 3, second: 0x90...0xBF)
        case 0xF4: start(byte & 0x07, missing: 3, second: 0x80...0x8F)
        case 0xF1...0xF3: start(byte & 0x07, missing: 3)
        default: return .invalid
        }
        return .more
    }

    private mutating func start(_ bits: UInt8, missing: Int, second: ClosedRange<UInt8> = 0x80...0xBF) {
        value = UInt32(bits)
        self.missing = missing
        allowed = second
    }
}
