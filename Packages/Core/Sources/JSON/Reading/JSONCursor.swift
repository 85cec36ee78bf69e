/// A position in a text, with the scanning that all parsers share.
///
/// It borrows the bytes, so it must not outlive the scope that provides them.
@safe struct JSONCursor {
    let bytes: UnsafeRawBufferPointer
    let count: Int
    var offset = 0

    /// Starts at the first byte. Throws if the options do not allow the text.
    init(_ bytes: UnsafeRawBufferPointer, _ reading: JSONReading) throws(JSONError) {
        unsafe self.bytes = unsafe bytes
        count = bytes.count
        if count > reading.maxBytes { throw failure(.tooLong(count, limit: reading.maxBytes), at: 0) }
        if reading.dialect == .json, self[0] == 0xEF, self[1] == 0xBB, self[2] == 0xBF {
            throw failure(.byteOrderMark, at: 0)
        }
    }

    /// The byte here, or zero at the end. A zero byte in the text is always an error, so only the error message
    /// distinguishes the two.
    @inline(__always)
    var byte: UInt8 {
        offset < count ? unsafe bytes[offset] : 0
    }

    @inline(__always)
    subscript(_ offset: Int) -> UInt8 {
        offset < count ? unsafe bytes[offset] : 0
    }

    /// The bytes in a range, as code units.
    @inline(__always)
    func units(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(rebasing: bytes.assumingMemoryBound(to: UInt8.self)[range])
    }

    /// The eight bytes at an offset, the first in the lowest bits. All eight must exist.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Skips white space and returns the byte after it.
    @inline(__always)
    mutating func skipSpace() -> UInt8 {
        let first = byte
        return first > JSONByte.space ? first : skipLongSpace()
    }

    private mutating func skipLongSpace() -> UInt8 {
        while offset < count {
            // Most of the white space in a pretty-printed text is indentation.
            while offset + 8 <= count, word(at: offset) == 0x2020_2020_2020_2020 { offset += 8 }
            switch byte {
            case JSONByte.space, JSONByte.lineFeed, JSONByte.carriageReturn, JSONByte.tab: offset += 1
            case let other: return other
            }
        }
        return 0
    }

    /// Skips a word such as `true`, or throws if the text here is different.
    mutating func skip(_ word: StaticString) throws(JSONError) {
        let length = word.utf8CodeUnitCount
        for place in 0..<length where unsafe self[offset + place] != word.utf8Start[place] {
            throw failure(.expectedValue)
        }
        offset += length
    }

    /// Throws if anything but white space follows the value.
    mutating func expectEnd() throws(JSONError) {
        _ = skipSpace()
        if offset < count { throw failure(.expectedEnd) }
    }

    /// The error for a problem at an offset, or here.
    @inline(never)
    func failure(_ problem: JSONProblem, at offset: Int? = nil) -> JSONError {
        let offset = min(offset ?? self.offset, count)
        let place = unsafe JSONPlace(offset: offset, in: bytes)
        return JSONError(
            problem.code, problem.message(found: place.found), line: place.line, column: place.column, offset: offset)
    }
}

extension JSONCursor {
    /// Reads a string literal that starts here and returns its content.
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
        // The scan has validated the UTF-8 already.
        return String(copying: unsafe UTF8Span(unchecked: units.span, isKnownASCII: isASCII))
    }

    /// Replaces the escapes. No escape is shorter than its character, so the output fits the size of the input.
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

    /// Copies up to the next backslash and returns the number of bytes copied. Storing eight bytes at a time is safe,
    /// because the output buffer is as large as the input.
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

    /// Writes a scalar in UTF-8 and returns its length in bytes.
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

    /// Throws an error at the first byte that is not valid UTF-8.
    func refuseBadUTF8(in range: Range<Int>) throws(JSONError) {
        do {
            _ = try unsafe UTF8Span(validating: units(range).span)
        } catch {
            throw failure(.badUTF8, at: range.lowerBound + error.byteOffsets.lowerBound)
        }
    }
}

extension JSONCursor {
    /// Skips an escape that starts here, or both escapes of a surrogate pair.
    @inline(__always)
    mutating func scanEscape(repairing: Bool) throws(JSONError) {
        switch self[offset + 1] {
        case JSONByte.quote, JSONByte.backslash, JSONByte.slash, UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset += 2
        case UInt8(ascii: "u"):
            let (scalar, length) = unicodeEscape(at: offset)
            if scalar == nil {
                try checkDigits(from: offset + 2)
                if !repairing { throw failure(.loneSurrogate) }
            }
            offset += length
        default:
            throw failure(offset + 1 < count ? .unknownEscape : .unclosedString, at: offset + 1)
        }
    }

    /// The scalar of a `\uXXXX` escape or surrogate pair, and its length. Nil for half a pair or missing digits.
    @inline(__always)
    func unicodeEscape(at start: Int) -> (scalar: Unicode.Scalar?, length: Int) {
        guard let high = codeUnit(at: start) else { return (nil, 6) }
        if let scalar = Unicode.Scalar(high) { return (scalar, 6) }
        guard high < 0xDC00, self[start + 6] == JSONByte.backslash, self[start + 7] == UInt8(ascii: "u"),
            let low = codeUnit(at: start + 6), 0xDC00..<0xE000 ~= low
        else { return (nil, 6) }
        return (Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)), 12)
    }

    /// The character of a two-byte escape that was checked.
    @inline(__always)
    func shortEscape(at start: Int) -> UInt8 {
        switch self[start + 1] {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): JSONByte.lineFeed
        case UInt8(ascii: "r"): JSONByte.carriageReturn
        case UInt8(ascii: "t"): JSONByte.tab
        case let other: other
        }
    }

    @inline(__always)
    private func codeUnit(at start: Int) -> UInt32? {
        var unit: UInt32 = 0
        for place in start + 2..<start + 6 {
            guard let digit = JSONByte.hexadecimal(self[place]) else { return nil }
            unit = unit << 4 | digit
        }
        return unit
    }

    private func checkDigits(from start: Int) throws(JSONError) {
        for place in start..<start + 4 where JSONByte.hexadecimal(self[place]) == nil {
            throw failure(place < count ? .unfinishedEscape : .unclosedString, at: place)
        }
    }
}

extension JSONCursor {
    /// Reads a number that starts here with a digit or a minus.
    mutating func number() throws(JSONError) -> JSON {
        let start = offset
        let isNegative = byte == JSONByte.minus
        if isNegative { offset += 1 }
        var magnitude: UInt64 = 0
        let whole = try digits(into: &magnitude)
        if whole > 1, self[offset - whole] == JSONByte.zero { throw failure(.leadingZero, at: offset - whole) }
        guard byte == JSONByte.dot || byte | 0x20 == UInt8(ascii: "e") else {
            // Any 18 digits fit in an `Int`.
            if whole <= 18 { return .int(isNegative ? -Int(magnitude) : Int(magnitude)) }
            return integer(start..<offset)
        }
        var fraction = 0
        if byte == JSONByte.dot {
            offset += 1
            fraction = try digits(into: &magnitude)
        }
        var exponent = 0
        if byte | 0x20 == UInt8(ascii: "e") { exponent = try self.exponent() }
        if whole + fraction <= JSONDecimal.mostDigits,
            let value = JSONDecimal.double(magnitude, scale: exponent - fraction)
        {
            return .double(isNegative ? -value : value)
        }
        return .double(try double(start..<offset))
    }

    /// Reads one or more digits into `magnitude`, which may overflow after 19 digits. Returns the number of digits.
    @inline(__always)
    private mutating func digits(into magnitude: inout UInt64) throws(JSONError) -> Int {
        let start = offset
        while offset < count {
            let digit = unsafe bytes[offset] &- JSONByte.zero
            guard digit <= 9 else { break }
            magnitude = magnitude &* 10 &+ UInt64(digit)
            offset += 1
        }
        if offset == start { throw failure(.missingDigits) }
        return offset - start
    }

    private mutating func exponent() throws(JSONError) -> Int {
        offset += 1
        let isNegative = byte == JSONByte.minus
        if isNegative || byte == JSONByte.plus { offset += 1 }
        var magnitude: UInt64 = 0
        let length = try digits(into: &magnitude)
        // A longer exponent, even with leading zeros, is left to the exact conversion.
        let exponent = length <= 4 ? Int(magnitude) : 9999
        return isNegative ? -exponent : exponent
    }

    /// The exact value of a decimal integer of any size.
    func integer(_ range: Range<Int>) -> JSON {
        let digits = text(range)
        return Int(digits).map(JSON.int) ?? .big(digits)
    }

    /// The value of a decimal number, rounded correctly.
    func double(_ range: Range<Int>) throws(JSONError) -> Double {
        guard let value = Double(text(range)), value.isFinite else {
            throw failure(.infiniteNumber, at: range.lowerBound)
        }
        return value
    }

    private func text(_ range: Range<Int>) -> String {
        unsafe String(decoding: units(range), as: UTF8.self)
    }
}

/// A checked string literal and the position of its content.
struct JSONStringToken {
    let content: Range<Int>
    var isASCII = true
    var hasEscapes = false
    /// Whether the content has invalid UTF-8, which must be repaired.
    var needsRepair = false
}

extension JSONCursor {
    /// Skips a string literal that starts here, and checks its characters and escapes.
    @inline(__always)
    mutating func scanString(repairing: Bool) throws(JSONError) -> JSONStringToken {
        let start = offset + 1
        skipPlain(from: start)
        if byte == JSONByte.quote {
            offset += 1
            return JSONStringToken(content: start..<offset - 1)
        }
        return try scanRest(from: start, repairing: repairing)
    }

    /// Skips ASCII characters that need no escape, eight at a time.
    @inline(__always)
    private mutating func skipPlain(from start: Int) {
        offset = start
        while offset + 8 <= count {
            let word = word(at: offset)
            let stops = JSONWord.special(in: word) | word & JSONWord.highBits
            if stops != 0 {
                offset += stops.trailingZeroBitCount >> 3
                return
            }
            offset += 8
        }
        while offset < count, byte >= JSONByte.space, byte < 0x80, byte != JSONByte.quote, byte != JSONByte.backslash {
            offset += 1
        }
    }

    /// Continues the scan at a character that is not plain ASCII.
    private mutating func scanRest(from start: Int, repairing: Bool) throws(JSONError) -> JSONStringToken {
        var isASCII = true
        var hasEscapes = false
        var needsRepair = false
        while true {
            switch byte {
            case JSONByte.quote:
                offset += 1
                return JSONStringToken(
                    content: start..<offset - 1, isASCII: isASCII, hasEscapes: hasEscapes, needsRepair: needsRepair)
            case JSONByte.backslash:
                hasEscapes = true
                try scanEscape(repairing: repairing)
            case 0x80...:
                isASCII = false
                if !skipMultibyte() {
                    guard repairing else { throw failure(.badUTF8) }
                    needsRepair = true
                    offset += 1
                }
            default: throw offset < count ? failure(.controlCharacter) : failure(.unclosedString, at: start - 1)
            }
            skipPlain(from: offset)
        }
    }

    /// Skips characters of several bytes. Returns false at an invalid one (Unicode, table 3-7).
    private mutating func skipMultibyte() -> Bool {
        while true {
            let bytes = fourBytes(at: offset)
            if bytes & 0x80 == 0 { return true }
            if bytes & 0x00C0_C0F0 == 0x0080_80E0 {
                // Not an overlong encoding and not a surrogate.
                guard bytes & 0x200F != 0, bytes & 0x200F != 0x200D else { return false }
                offset += 3
            } else if bytes & 0xC0E0 == 0x80C0 {
                guard bytes & 0x1E != 0 else { return false }
                offset += 2
            } else if bytes & 0xC0C0_C0F8 == 0x8080_80F0 {
                // Not an overlong encoding and not above U+10FFFF.
                guard bytes & 0x3007 != 0, bytes & 7 < 4 || bytes & 0x3007 == 4 else { return false }
                offset += 4
            } else {
                return false
            }
        }
    }

    /// Four bytes, the first in the lowest bits. Bytes after the end are zero.
    @inline(__always)
    private func fourBytes(at offset: Int) -> UInt32 {
        if offset + 4 <= count {
            return unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        return UInt32(self[offset]) | UInt32(self[offset + 1]) << 8 | UInt32(self[offset + 2]) << 16
    }
}
