/// How a field lies in the bytes.
enum ProtobufWire: UInt64 {
    case varint = 0
    case fixed64 = 1
    case bytes = 2
    case fixed32 = 5
}

// What of Protocol Buffers OTLP needs. Fields at their default are left out, as proto3 has it.

extension [UInt8] {
    mutating func addVarint(_ number: UInt64) {
        var rest = number
        while rest > 0x7F {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func addTag(_ field: Int, _ wire: ProtobufWire) { addVarint(UInt64(field) << 3 | wire.rawValue) }

    /// Appends eight bytes in the order of the wire.
    mutating func addWord(_ word: UInt64) {
        unsafe Swift.withUnsafeBytes(of: word.littleEndian) { unsafe append(contentsOf: $0) }
    }

    mutating func addFixed(_ field: Int, _ word: UInt64) {
        guard word != 0 else { return }
        addTag(field, .fixed64)
        addWord(word)
    }

    mutating func addFixed(_ field: Int, _ word: UInt32) {
        guard word != 0 else { return }
        addTag(field, .fixed32)
        unsafe Swift.withUnsafeBytes(of: word.littleEndian) { unsafe append(contentsOf: $0) }
    }

    mutating func addNumber(_ field: Int, _ number: UInt64) {
        guard number != 0 else { return }
        addTag(field, .varint)
        addVarint(number)
    }

    mutating func addText(_ field: Int, _ text: String) {
        if !text.isEmpty { addTextAlways(field, text) }
    }

    /// Appends a text even if it is empty.
    mutating func addTextAlways(_ field: Int, _ text: String) {
        addTag(field, .bytes)
        addVarint(UInt64(text.utf8.count))
        append(contentsOf: text.utf8)
    }

    /// Appends a message inside this one. Its length comes before it and is known after it.
    ///
    /// - Parameter lengthBytes: the bytes that the length will probably take; if it takes others, the content is moved.
    @inline(__always)
    mutating func addMessage(_ field: Int, lengthBytes: Int = 1, _ content: (inout [UInt8]) -> Void) {
        addTag(field, .bytes)
        let place = count
        for _ in 0..<lengthBytes { append(0) }
        content(&self)
        setLength(at: place, lengthBytes)
    }

    private mutating func setLength(at place: Int, _ reserved: Int) {
        var rest = UInt64(count - place - reserved)
        let needed = rest == 0 ? 1 : (70 - rest.leadingZeroBitCount) / 7
        if needed > reserved {
            insert(contentsOf: repeatElement(0, count: needed - reserved), at: place)
        } else if needed < reserved {
            removeSubrange(place..<place + reserved - needed)
        }
        for offset in 0..<needed {
            self[place + offset] = UInt8(truncatingIfNeeded: rest & 0x7F) | (offset < needed - 1 ? 0x80 : 0)
            rest >>= 7
        }
    }
}
