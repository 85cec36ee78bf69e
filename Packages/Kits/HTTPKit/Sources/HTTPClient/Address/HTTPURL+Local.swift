import Glibc

extension HTTPURL {
    /// Whether the server is on this machine or in its own network: `localhost`, `*.local`, a private address.
    ///
    /// Told from the text alone; no name is looked up.
    public var isLocal: Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host.hasSuffix(".local") { return true }
        if let address = Self.bytes(of: host, family: AF_INET, count: 4) { return Self.isLocal(address) }
        guard let address = Self.bytes(of: hostWithoutZone, family: AF_INET6, count: 16) else { return false }
        let isMapped = address[..<10].allSatisfy { $0 == 0 } && address[10] == 0xFF && address[11] == 0xFF
        if isMapped { return Self.isLocal(Array(address[12...])) }
        let isLoopback = address[..<15].allSatisfy { $0 == 0 } && address[15] == 1
        let isUnique = address[0] & 0xFE == 0xFC
        let isLinkLocal = address[0] == 0xFE && address[1] & 0xC0 == 0x80
        return isLoopback || isUnique || isLinkLocal
    }

    private static func isLocal(_ address: [UInt8]) -> Bool {
        switch (address[0], address[1]) {
        case (127, _), (10, _), (192, 168), (169, 254), (172, 16...31): true
        default: false
        }
    }

    private static func bytes(of text: String, family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return unsafe inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}
