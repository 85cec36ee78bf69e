import COpenSSL

extension X509Handle {
    /// Whether it is valid for the host that somebody asked for: an address, or a name with or without a final dot.
    borrowing func matches(host: String) -> Bool {
        defer { ErrorQueue.clear() }
        if let address = IPAddress(host) {
            return unsafe X509_check_ip(pointer, address.bytes, address.bytes.count, 0) == 1
        }
        var name = Array(host.utf8)
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        // To the library a name that begins with a dot means any name below it, and the length 0 means "measure it".
        guard let first = name.first, first != UInt8(ascii: "."), !name.contains(0), !name.contains(UInt8(ascii: "*"))
        else { return false }
        // The library would fall back on the common name also beside alternative names that are all addresses.
        let hasAlternatives = unsafe X509_get_ext_by_NID(pointer, NID_subject_alt_name, -1) >= 0
        let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | (hasAlternatives ? X509_CHECK_FLAG_NEVER_CHECK_SUBJECT : 0)
        return unsafe name.withUnsafeBytes { bytes in
            unsafe X509_check_host(
                pointer, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, UInt32(flags), nil) == 1
        }
    }
}
