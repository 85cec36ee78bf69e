/// Reads the fields of a message of Protocol Buffers one after another. It never reads beyond its part of the bytes.
struct ProtobufReader {
    /// A field as it lies in the bytes.
    enum Value {
        case varint(UInt64)
        case fixed64(UInt64)
        case bytes(Range<Int>)
        case fixed32(UInt32)
    }

    private let bytes: [UInt8]
    private var place: Int
    private let end: Int

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        (place, end) = (range.lowerBound, range.upperBound)
    }

    /// The next field; nil at the end.
    mutating func next() throws(TraceKitError) -> (number: UInt64, value: Value)? {
        guard place < end else { return nil }
        let start = place
        let tag = try varint()
        guard (1...0x1FFF_FFFF).contains(tag >> 3) else { throw problem("a field has the number \(tag >> 3)", start) }
        let value: Value
        switch ProtobufWire(rawValue: tag & 7) {
        case .varint: value = .varint(try varint())
        case .fixed64: value = .fixed64(try fixed(8))
        case .fixed32: value = .fixed32(UInt32(truncatingIfNeeded: try fixed(4)))
        case .bytes:
            let length = try varint()
            guard length <= UInt64(end - place) else {
                throw problem("a field is longer than what is around it", start)
            }
            value = .bytes(place..<place + Int(length))
            place += Int(length)
        case nil: throw problem("a field has the wire type \(tag & 7)", start)
        }
        return (tag >> 3, value)
    }

    private mutating func varint() throws(TraceKitError) -> UInt64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        let start = place
        while place < end {
            let byte = bytes[place]
            place += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
            guard shift < 70 else { throw problem("a number has more than 10 bytes", start) }
        }
        throw problem("a number is cut", start)
    }

    private mutating func fixed(_ count: Int) throws(TraceKitError) -> UInt64 {
        guard end - place >= count else { throw problem("a number is cut", place) }
        var number: UInt64 = 0
        for offset in 0..<count { number |= UInt64(bytes[place + offset]) << UInt64(8 * offset) }
        place += count
        return number
    }

    private func problem(_ words: String, _ place: Int) -> TraceKitError {
        TraceKitError(.malformed, "this is no OTLP message in protobuf: \(words) at byte \(place)")
    }
}
