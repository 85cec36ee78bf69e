/// A place in a text, and the steps over it that every reader takes.
///
/// It borrows the bytes and is only made inside the scope that lends them.
@safe struct JSONCursor {
    let bytes: UnsafeRawBufferPointer
    let count: Int
    var offset = 0

    /// Starts at the first byte of a text that the options admit.
    init(_ bytes: UnsafeRawBufferPointer, _ reading: JSONReading) throws(JSONError) {
        unsafe self.bytes = unsafe bytes
        count = bytes.count
        if count > reading.maxBytes { throw failure(.tooLong(count, limit: reading.maxBytes), at: 0) }
        if reading.dialect == .json, self[0] == 0xEF, self[1] == 0xBB, self[2] == 0xBF {
            throw failure(.byteOrderMark, at: 0)
        }
    }

    /// The byte here, or zero at the end; a zero in the text is an error wherever it stands, so the two need no telling
    /// apart until then.
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

    /// Eight bytes at an offset that has them, the first in the lowest place.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Steps over white space and returns the byte after it.
    @inline(__always)
    mutating func skipSpace() -> UInt8 {
        let first = byte
        return first > JSONByte.space ? first : skipLongSpace()
    }

    private mutating func skipLongSpace() -> UInt8 {
        while offset < count {
            // Indentation is the bulk of a pretty text.
            while offset + 8 <= count, word(at: offset) == 0x2020_2020_2020_2020 { offset += 8 }
            switch byte {
            case JSONByte.space, JSONByte.lineFeed, JSONByte.carriageReturn, JSONByte.tab: offset += 1
            case let other: return other
            }
        }
        return 0
    }

    /// Steps over a word such as `true`, whose first letter was seen.
    mutating func skip(_ word: StaticString) throws(JSONError) {
        let length = word.utf8CodeUnitCount
        for place in 0..<length where unsafe self[offset + place] != word.utf8Start[place] {
            throw failure(.expectedValue)
        }
        offset += length
    }

    /// Refuses anything after the one value.
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
