/// `Sanitizer` for bytes that arrive in chunks, wherever those cut a character or a line ending.
public struct StreamSanitizer: Sendable {
    private var decoder = UTF8Decoder()
    private var heldCarriageReturn = false

    /// A sanitizer at the beginning of a stream.
    public init() {}

    /// The harmless form of the next chunk; bytes of an unfinished character wait for the chunk that finishes it.
    public mutating func sanitize(_ chunk: [UInt8]) -> [UInt8] {
        if !decoder.isInside && !heldCarriageReturn && Sanitizer.cleanPrefix(of: chunk.span, from: 0) == chunk.count {
            return chunk
        }
        var output: [UInt8] = []
        output.reserveCapacity(chunk.count + 16)
        append(chunk.span, to: &output)
        return output
    }

    /// What was still waiting when the stream ended.
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
