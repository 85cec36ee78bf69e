/// A host with an optional port, as requests name it.
enum HostName {
    /// Whether the bytes can be a host: a name, an IPv4 address, or an IPv6 address in brackets, and digits for a port.
    static func isValid(_ bytes: Span<UInt8>) -> Bool {
        var place = 0
        if !bytes.isEmpty, bytes[0] == UInt8(ascii: "[") {
            guard let end = bytes.first(UInt8(ascii: "]")), end > 1 else { return false }
            for index in 1..<end {
                let byte = bytes[index]
                guard Byte.hex(byte) != nil || byte == Byte.colon || byte == UInt8(ascii: ".") else { return false }
            }
            place = end + 1
        } else {
            while place < bytes.count, isNameByte(bytes[place]) { place += 1 }
            guard place > 0 else { return false }
        }
        guard place < bytes.count else { return true }
        guard bytes[place] == Byte.colon, bytes.count - place <= 6 else { return false }
        for index in (place + 1)..<bytes.count where !Byte.isDigit(bytes[index]) { return false }
        return true
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The host without its port and brackets, in lower case.
    static func withoutPort(_ text: String) -> String {
        if text.hasPrefix("[") { return text.dropFirst().prefix { $0 != "]" }.lowercased() }
        return text[..<(text.utf8.firstIndex(of: Byte.colon) ?? text.endIndex)].lowercased()
    }
}
