import Glibc

/// A field that an event stream may have. Names are compared byte by byte: `Data` is another field.
struct EventField {
    private let name: StaticString

    static let data = EventField(name: "data")
    static let event = EventField(name: "event")
    static let id = EventField(name: "id")
    static let retry = EventField(name: "retry")
    static let error = EventField(name: "error")

    /// Where the value is when the line is this field: after the colon and one space, or empty without a colon.
    @inline(__always)
    func value(in chunk: UnsafeRawBufferPointer, _ line: Range<Int>) -> Range<Int>? {
        let count = name.utf8CodeUnitCount
        guard line.count >= count, let base = chunk.baseAddress,
            unsafe memcmp(base + line.lowerBound, name.utf8Start, count) == 0
        else { return nil }
        var start = line.lowerBound + count
        guard start < line.upperBound else { return start..<start }
        guard unsafe chunk[start] == UInt8(ascii: ":") else { return nil }
        start += 1
        if start < line.upperBound, unsafe chunk[start] == UInt8(ascii: " ") { start += 1 }
        return start..<line.upperBound
    }
}

extension String {
    /// Whether its UTF-8 is exactly these bytes.
    func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let same = unsafe utf8.withContiguousStorageIfAvailable { own in
            guard own.count == bytes.count else { return false }
            guard let left = own.baseAddress, let right = bytes.baseAddress else { return true }
            return unsafe memcmp(left, right, own.count) == 0
        }
        return same ?? false
    }
}
