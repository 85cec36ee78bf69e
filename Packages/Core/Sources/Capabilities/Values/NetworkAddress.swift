/// An address of the network, read from a text: four bytes, or sixteen.
///
/// One of IPv6 that stands for one of IPv4 is that one.
struct NetworkAddress: Sendable, Hashable {
    let bytes: [UInt8]

    /// Nil where the text is no address, as a name is none. The zone of a link counts for nothing.
    init?(_ text: some StringProtocol) {
        let plain = text.prefix { $0 != "%" }
        guard let bytes = plain.contains(":") ? Self.six(plain) : Self.four(plain) else { return nil }
        let isMapped = bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10...11] == [0xFF, 0xFF]
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    /// Whether it leads to this machine, to its own link, or to what tells a machine in a cloud about itself, its
    /// credentials among that: places that trust whoever reaches them.
    var isConfined: Bool {
        if bytes.count == 4 {
            let isConfined = bytes[0] == 127 || bytes[0] == 0 || bytes[..<2] == [169, 254]
            return isConfined || Self.metadata.contains(bytes)
        }
        // `::` and `::1`; what begins with fe80.
        let isOwn = bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] <= 1
        return isOwn || bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 || Self.metadata.contains(bytes)
    }

    /// Where clouds tell a machine about itself, beside 169.254.169.254, which is of the link: Alibaba, Oracle, Azure, AWS.
    private static let metadata: Set<[UInt8]> = [
        [100, 100, 100, 200], [192, 0, 0, 192], [168, 63, 129, 16],
        [0xFD, 0, 0x0E, 0xC2] + [UInt8](repeating: 0, count: 10) + [0x02, 0x54],
    ]

    private static func four(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { $0.utf8.allSatisfy { (48...57).contains($0) } ? UInt8($0) : nil }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    private static func six(_ text: some StringProtocol) -> [UInt8]? {
        guard let gap = text.firstRange(of: "::") else {
            let bytes = groups(text)
            return bytes?.count == 16 ? bytes : nil
        }
        guard let head = groups(text[..<gap.lowerBound]), let tail = groups(text[gap.upperBound...]),
            head.count + tail.count <= 14
        else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    /// The bytes of groups of digits, of which the last may be an address of IPv4.
    private static func groups(_ text: some StringProtocol) -> [UInt8]? {
        if text.isEmpty { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains("."), let four = four(part) {
                bytes += four
            } else if 1...4 ~= part.utf8.count, part.utf8.first != UInt8(ascii: "+"),
                let group = UInt16(part, radix: 16)
            {
                bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
            } else {
                return nil
            }
        }
        return bytes
    }
}
