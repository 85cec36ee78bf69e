/// Makes text from outside harmless to a terminal: control characters are shown as visible characters instead.
///
/// C0 controls and DEL become their control pictures (`␛`, `␇`, `␡`); bidirectional overrides and isolates
/// (U+202A–202E, U+2066–2069) are named, as `‹U+202E›`; C1 controls and invalid UTF-8 become `�`. Tab and newline stay,
/// CR LF becomes LF.
public enum Sanitizer {
    /// `text` without anything that a terminal would obey; the same string if there was nothing.
    public static func sanitize(_ text: String) -> String {
        var text = text
        text.makeContiguousUTF8()
        let bytes = text.utf8.span
        let clean = cleanPrefix(of: bytes, from: 0)
        if clean == bytes.count { return text }
        var stream = StreamSanitizer()
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 16)
        stream.append(bytes, to: &output)
        stream.finish(into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// The end of the harmless bytes from `start` on; only a byte that may begin something harmful stops it.
    static func cleanPrefix(of bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if byte >= 0x20 && byte < 0x7F || byte == 0x0A || byte == 0x09 {
                index += 1
            } else if byte < 0x80 {
                return index
            } else {
                let length = cleanSequence(in: bytes, at: index)
                if length == 0 { return index }
                index += length
            }
        }
        return index
    }

    /// The length of the valid and harmless multi-byte sequence at `index`, or nil.
    private static func cleanSequence(in bytes: Span<UInt8>, at index: Int) -> Int {
        var decoder = UTF8Decoder()
        var position = index
        while position < bytes.count {
            switch decoder.receive(bytes[position]) {
            case .more: position += 1
            case .scalar(let scalar): return isHarmful(scalar) ? 0 : position + 1 - index
            case .invalid, .invalidThenRetry: return 0
            }
        }
        return 0
    }

    static func isHarmful(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x09, 0x0A: false
        case 0x00...0x1F, 0x7F...0x9F: true
        default: isDirection(scalar)
        }
    }

    /// Whether it changes the direction in which the text after it is shown.
    static func isDirection(_ scalar: UInt32) -> Bool {
        (0x202A...0x202E).contains(scalar) || (0x2066...0x2069).contains(scalar)
    }

    /// The visible name of a scalar that nobody would see.
    static func name(of scalar: UInt32) -> String {
        let digits = String(scalar, radix: 16, uppercase: true)
        return "‹U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)›"
    }
}

/// `Sanitizer` for bytes that arrive in chunks, even if a character or a line ending is split.
public struct StreamSanitizer: Sendable {
    private var decoder = UTF8Decoder()
    private var heldCarriageReturn = false

    /// A sanitizer at the beginning of a stream.
    public init() {}

    /// The harmless form of the next chunk; bytes of an unfinished character wait for the next one.
    public mutating func sanitize(_ chunk: [UInt8]) -> [UInt8] {
        if !decoder.isInside && !heldCarriageReturn && Sanitizer.cleanPrefix(of: chunk.span, from: 0) == chunk.count {
            return chunk
        }
        var output: [UInt8] = []
        output.reserveCapacity(chunk.count + 16)
        append(chunk.span, to: &output)
        return output
    }

    /// The bytes that were still waiting when the stream ended.
    public mutating func finish() -> [UInt8] {
        var output: [UInt8] = []
        finish(into: &output)
        return output
    }
}

extension StreamSanitizer {
    mutating func append(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            if !decoder.isInside && !heldCarriageReturn {
                let end = Sanitizer.cleanPrefix(of: bytes, from: index)
                for position in index..<end { output.append(bytes[position]) }
                index = end
                if index == bytes.count { return }
            }
            switch decoder.receive(bytes[index]) {
            case .more: break
            case .scalar(let scalar): emit(scalar, to: &output)
            case .invalid: emit(Self.replacement, to: &output)
            case .invalidThenRetry:
                emit(Self.replacement, to: &output)
                continue
            }
            index += 1
        }
    }

    mutating func finish(into output: inout [UInt8]) {
        if decoder.isInside { emit(Self.replacement, to: &output) }
        if heldCarriageReturn { Self.encode(Self.picture(of: 0x0D), to: &output) }
        self = StreamSanitizer()
    }

    private static let replacement: UInt32 = 0xFFFD

    private mutating func emit(_ scalar: UInt32, to output: inout [UInt8]) {
        if heldCarriageReturn && scalar != 0x0A { Self.encode(Self.picture(of: 0x0D), to: &output) }
        heldCarriageReturn = scalar == 0x0D
        if heldCarriageReturn { return }
        if Sanitizer.isDirection(scalar) { return output.append(contentsOf: Sanitizer.name(of: scalar).utf8) }
        Self.encode(Sanitizer.isHarmful(scalar) ? Self.picture(of: scalar) : scalar, to: &output)
    }

    private static func picture(of scalar: UInt32) -> UInt32 {
        switch scalar {
        case 0x00...0x1F: 0x2400 + scalar
        case 0x7F: 0x2421
        default: replacement
        }
    }

    private static func encode(_ scalar: UInt32, to output: inout [UInt8]) {
        guard let scalar = Unicode.Scalar(scalar) else { return }
        output.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
}

/// Decodes UTF-8 byte by byte, so that a sequence may be split anywhere between two chunks.
struct UTF8Decoder: Sendable {
    enum Step: Equatable {
        /// The byte belongs to an unfinished sequence.
        case more
        /// The byte completed this scalar.
        case scalar(UInt32)
        /// The byte cannot begin a sequence.
        case invalid
        /// The unfinished sequence before this byte is invalid; the byte itself must be received again.
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

    /// The ranges of the second byte exclude overlong forms, surrogates and values above U+10FFFF (RFC 3629, section
    /// 4).
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
