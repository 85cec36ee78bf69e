extension JSONCursor {
    /// Steps over a string literal that starts here and returns its content.
    @inline(__always)
    mutating func string(repairing: Bool) throws(JSONError) -> String {
        text(of: try scanString(repairing: repairing))
    }

    /// The content of a string literal.
    @inline(__always)
    func text(of token: JSONStringToken) -> String {
        if token.hasEscapes { return unescaped(token) }
        return unsafe Self.text(units(token.content), isASCII: token.isASCII, needsRepair: token.needsRepair)
    }

    @inline(__always)
    private static func text(_ units: UnsafeBufferPointer<UInt8>, isASCII: Bool, needsRepair: Bool) -> String {
        if needsRepair { return unsafe String(decoding: units, as: UTF8.self) }
        // The scan has checked what the plain initialiser would check again.
        return String(copying: unsafe UTF8Span(unchecked: units.span, isKnownASCII: isASCII))
    }

    /// Replaces the escapes, none of which is shorter than what it stands for.
    private func unescaped(_ token: JSONStringToken) -> String {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: token.content.count) { output in
            var length = 0
            var isASCII = token.isASCII
            var place = token.content.lowerBound
            while place < token.content.upperBound {
                let plain = unsafe copyPlain(place..<token.content.upperBound, to: output, at: length)
                length += plain
                place += plain
                guard place < token.content.upperBound else { break }
                if self[place + 1] == UInt8(ascii: "u") {
                    let (escaped, size) = unicodeEscape(at: place)
                    let scalar = escaped ?? "\u{FFFD}"
                    if !scalar.isASCII { isASCII = false }
                    length += unsafe Self.encode(scalar, into: output, at: length)
                    place += size
                } else {
                    unsafe output[length] = shortEscape(at: place)
                    length += 1
                    place += 2
                }
            }
            let units = unsafe UnsafeBufferPointer(rebasing: output[..<length])
            return unsafe Self.text(units, isASCII: isASCII, needsRepair: token.needsRepair)
        }
    }

    /// Copies up to the next backslash and returns how many bytes that took; eight at a time, as the output is no
    /// shorter than the input.
    @inline(__always)
    private func copyPlain(
        _ range: Range<Int>, to output: UnsafeMutableBufferPointer<UInt8>, at start: Int
    ) -> Int {
        let raw = UnsafeMutableRawBufferPointer(output)
        var length = 0
        while range.lowerBound + length + 8 <= range.upperBound {
            let word = word(at: range.lowerBound + length)
            unsafe raw.storeBytes(of: word.littleEndian, toByteOffset: start + length, as: UInt64.self)
            let backslash = JSONWord.backslash(in: word)
            if backslash != 0 { return length + backslash.trailingZeroBitCount >> 3 }
            length += 8
        }
        while range.lowerBound + length < range.upperBound {
            let byte = unsafe bytes[range.lowerBound + length]
            if byte == JSONByte.backslash { break }
            unsafe output[start + length] = byte
            length += 1
        }
        return length
    }

    /// Writes a scalar in UTF-8 and returns how many bytes it took.
    @inline(__always)
    private static func encode(
        _ scalar: Unicode.Scalar, into output: UnsafeMutableBufferPointer<UInt8>, at start: Int
    ) -> Int {
        var length = 0
        for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
            unsafe output[start + length] = unit
            length += 1
        }
        return length
    }

    /// Refuses what is not UTF-8, at the first byte of it.
    func refuseBadUTF8(in range: Range<Int>) throws(JSONError) {
        do {
            _ = try unsafe UTF8Span(validating: units(range).span)
        } catch {
            throw failure(.badUTF8, at: range.lowerBound + error.byteOffsets.lowerBound)
        }
    }
}
