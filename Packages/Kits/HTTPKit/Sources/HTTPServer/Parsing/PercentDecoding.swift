/// Decodes percent-encoded text.
enum PercentDecoding {
    /// The decoded text, or nil for a malformed escape, invalid UTF-8, or a NUL.
    static func decode(_ text: Substring, plusIsSpace: Bool = false) -> String? {
        let isPlain = text.utf8.allSatisfy { byte in
            byte != UInt8(ascii: "%") && byte != 0 && !(plusIsSpace && byte == UInt8(ascii: "+"))
        }
        if isPlain { return String(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let first = rest.popFirst().flatMap(Byte.hex), let second = rest.popFirst().flatMap(Byte.hex)
                else { return nil }
                bytes.append(first << 4 | second)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(Byte.space)
            default: bytes.append(byte)
            }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The name-value pairs of a query; nil when one of them is malformed.
    static func pairs(_ query: String?) -> [(name: String, value: String)]? {
        guard let query, !query.isEmpty else { return [] }
        var pairs: [(name: String, value: String)] = []
        for part in query.split(separator: "&") {
            let equals = part.firstIndex(of: "=")
            let name = part[..<(equals ?? part.endIndex)]
            let value = equals.map { part[part.index(after: $0)...] } ?? ""
            guard let name = decode(name, plusIsSpace: true), let value = decode(value, plusIsSpace: true)
            else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }
}
