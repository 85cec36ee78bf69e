/// Reads the values that SSH sends (RFC 4251, section 5), within the bytes that are there.
package struct WireReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Whether everything was read.
    package var isAtEnd: Bool { position == bytes.endIndex }

    /// A number of four bytes.
    package mutating func word() -> Int? {
        guard bytes.endIndex - position >= 4 else { return nil }
        defer { position += 4 }
        return bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// One byte.
    package mutating func byte() -> UInt8? {
        guard position < bytes.endIndex else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Bytes with their length in front. Nil if fewer are there.
    package mutating func string() -> ArraySlice<UInt8>? {
        guard bytes.endIndex - position >= 4 else { return nil }
        let count = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
        guard count <= bytes.endIndex - position - 4 else { return nil }
        let start = position + 4
        position = start + count
        return bytes[start..<position]
    }

    /// A text without a zero byte.
    package mutating func text() -> String? {
        guard let string = string(), !string.contains(0) else { return nil }
        return String(decoding: string, as: UTF8.self)
    }

    /// A positive whole number of at most 16,384 bits, without leading zeros.
    package mutating func number() -> ArraySlice<UInt8>? {
        guard let number = string() else { return nil }
        if let first = number.first, first & 0x80 != 0 { return nil }
        let trimmed = number.drop { $0 == 0 }
        return trimmed.count <= 2_048 && number.count <= 2_049 ? trimmed : nil
    }
}
