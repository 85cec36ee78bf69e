import Glibc

/// An address of 4 or 16 bytes, as certificates hold it.
struct IPAddress: Hashable, CustomStringConvertible {
    let bytes: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads the usual forms, also `[::1]` as it stands in a URL, and leaves out a zone (`%eth0`).
    init?(_ text: String) {
        var text = text[...]
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if text.contains(":"), let zone = text.firstIndex(of: "%") { text = text[..<zone] }
        guard !text.utf8.contains(0) else { return nil }
        let (family, size) = text.contains(":") ? (AF_INET6, 16) : (AF_INET, 4)
        var bytes = [UInt8](repeating: 0, count: size)
        guard unsafe inet_pton(family, String(text), &bytes) == 1 else { return nil }
        self.bytes = bytes
    }

    var description: String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            unsafe inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, buffer.baseAddress, 64)
                .map { unsafe String(cString: $0) } ?? Hexadecimal.encode(bytes)
        }
    }
}
