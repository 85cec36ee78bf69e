import Glibc

/// A network address parsed from text: four bytes or sixteen.
///
/// An IPv6 address that embeds an IPv4 address is treated as that IPv4 address.
struct NetworkAddress: Sendable, Hashable {
    let bytes: [UInt8]

    /// Nil if the text is not an address, such as a name. The zone of a link-local address is ignored.
    init?(_ text: some StringProtocol) {
        let plain = String(text.prefix { $0 != "%" })
        var bytes = [UInt8](repeating: 0, count: plain.contains(":") ? 16 : 4)
        guard unsafe inet_pton(bytes.count == 4 ? AF_INET : AF_INET6, plain, &bytes) == 1 else { return nil }
        let isEmbedded = bytes.count == 16 && Self.embedding.contains(Array(bytes[..<12]))
        // `::` and `::1` are genuine IPv6 addresses.
        let isOwn = bytes.count == 16 && bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] <= 1
        self.bytes = isEmbedded && !isOwn ? Array(bytes[12...]) : bytes
    }

    /// Whether it belongs to this machine, its link or a cloud's metadata service, which also serves credentials. Such
    /// services trust whoever can reach them.
    var isConfined: Bool {
        if bytes.count == 4 {
            let isConfined = bytes[0] == 127 || bytes[0] == 0 || bytes[..<2] == [169, 254]
            return isConfined || Self.metadata.contains(bytes)
        }
        // `::`, `::1` and addresses that begin with fe80.
        let isOwn = bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] <= 1
        return isOwn || bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 || Self.metadata.contains(bytes)
    }

    /// The prefixes of embedded IPv4 addresses: mapped, compatible (obsolete) and translated.
    private static let embedding: Set<[UInt8]> = [
        [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF], [UInt8](repeating: 0, count: 12),
        [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8),
    ]

    /// The metadata services of clouds, in addition to 169.254.169.254, which is link-local: Alibaba, Oracle, Azure,
    /// AWS twice, Google.
    private static let metadata: Set<[UInt8]> = [
        [100, 100, 100, 200], [192, 0, 0, 192], [168, 63, 129, 16],
        [0xFD, 0, 0x0E, 0xC2] + [UInt8](repeating: 0, count: 10) + [0x02, 0x54],
        [0xFD, 0, 0x0E, 0xC2] + [UInt8](repeating: 0, count: 11) + [0x23],
        [0xFD, 0x20, 0, 0xCE] + [UInt8](repeating: 0, count: 10) + [0x02, 0x54],
    ]
}
