extension JSONCursor {
    /// Steps over a string literal that starts here and returns its content.
    @inline(__always)
    mutating func string(repairing: Bool) throws(JSONError) -> String {
        let token = try scanString(repairing: repairing)
        return try text(of: token, repairing: repairing)
    }

    /// The content of a string literal.
    @inline(__always)
    func text(of token: JSONStringToken, repairing: Bool) throws(JSONError) -> String {
        if !token.isASCII, !repairing { try refuseBadUTF8(in: token.content) }
        if token.hasEscapes { return unescape(token.content) }
        let content = unsafe UnsafeBufferPointer(rebasing: bytes.bindMemory(to: UInt8.self)[token.content])
        if token.isASCII { return String(copying: unsafe UTF8Span(unchecked: content.span, isKnownASCII: true)) }
        return unsafe String(decoding: content, as: UTF8.self)
    }

    func refuseBadUTF8(in range: Range<Int>) throws(JSONError) {
        let content = unsafe UnsafeBufferPointer(rebasing: bytes.bindMemory(to: UInt8.self)[range])
        do {
            _ = try unsafe UTF8Span(validating: content.span)
        } catch {
            throw failure(.badUTF8, at: range.lowerBound + error.byteOffsets.lowerBound)
        }
    }

    /// Copies checked content with its escapes replaced; none is shorter than what it stands for.
    private func unescape(_ range: Range<Int>) -> String {
        unsafe String(unsafeUninitializedCapacity: range.count) { output in
            var length = 0
            var place = range.lowerBound
            while place < range.upperBound {
                let byte = unsafe bytes[place]
                guard byte == JSONByte.backslash else {
                    unsafe output[length] = byte
                    length += 1
                    place += 1
                    continue
                }
                let (scalar, size) = escapedScalar(at: place)
                for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                    unsafe output[length] = unit
                    length += 1
                }
                place += size
            }
            return length
        }
    }

    private func escapedScalar(at place: Int) -> (Unicode.Scalar, length: Int) {
        switch self[place + 1] {
        case UInt8(ascii: "u"):
            let (scalar, length) = unicodeEscape(at: place)
            return (scalar ?? "\u{FFFD}", length)
        case UInt8(ascii: "b"): return ("\u{08}", 2)
        case UInt8(ascii: "f"): return ("\u{0C}", 2)
        case UInt8(ascii: "n"): return ("\n", 2)
        case UInt8(ascii: "r"): return ("\r", 2)
        case UInt8(ascii: "t"): return ("\t", 2)
        case let other: return (Unicode.Scalar(other), 2)
        }
    }
}
