import CCryptography
import COpenSSL
import Capabilities
import Glibc

extension X509Handle {
    /// "CN=example.org,O=Example": the parts in the order of RFC 2253, with everything escaped that a terminal would obey.
    borrowing func subject() throws(CryptographyError) -> String {
        try unsafe Self.text(of: X509_get_subject_name(pointer))
    }

    borrowing func issuer() throws(CryptographyError) -> String {
        try unsafe Self.text(of: X509_get_issuer_name(pointer))
    }

    /// The last common name of the subject, which is the most specific.
    borrowing func commonName() -> String? {
        let name = unsafe X509_get_subject_name(pointer)
        var found: Int32 = -1
        var next = unsafe X509_NAME_get_index_by_NID(name, NID_commonName, -1)
        while next >= 0 {
            found = next
            next = unsafe X509_NAME_get_index_by_NID(name, NID_commonName, found)
        }
        guard found >= 0 else { return nil }
        let value = unsafe X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, found))
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe ASN1_STRING_to_UTF8(&bytes, value)
        guard let bytes = unsafe X509Handle.take(bytes, count) else { return nil }
        return PlainText.escape(String(decoding: bytes, as: UTF8.self))
    }

    borrowing func isSelfIssued() -> Bool {
        unsafe X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0
    }

    borrowing func notBefore() throws(CryptographyError) -> Timestamp {
        try unsafe Self.moment(X509_get0_notBefore(pointer))
    }

    borrowing func notAfter() throws(CryptographyError) -> Timestamp {
        try unsafe Self.moment(X509_get0_notAfter(pointer))
    }

    /// The serial number in hexadecimal digits.
    borrowing func serial() throws(CryptographyError) -> String {
        ErrorQueue.clear()
        guard let number = unsafe ASN1_INTEGER_to_BN(X509_get0_serialNumber(pointer), nil) else {
            throw CryptographyError(.malformed, "the certificate's serial number cannot be read")
        }
        defer { unsafe BN_free(number) }
        guard let digits = unsafe BN_bn2hex(number) else { throw ErrorQueue.failure("read a serial number") }
        defer { unsafe ccryptography_free(digits) }
        return unsafe String(cString: digits)
    }

    borrowing func signatureAlgorithm() -> String {
        unsafe OBJ_nid2ln(X509_get_signature_nid(pointer)).map { unsafe String(cString: $0) } ?? "unknown"
    }

    /// SHA-256 of the public key with its algorithm (SubjectPublicKeyInfo).
    borrowing func keyFingerprint() throws(CryptographyError) -> [UInt8] {
        ErrorQueue.clear()
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), &bytes)
        guard let bytes = unsafe X509Handle.take(bytes, count) else { throw ErrorQueue.failure("write a public key") }
        return Digest.sha256(bytes)
    }

    borrowing func key() -> PublicKeyFacts {
        defer { ErrorQueue.clear() }
        guard let key = unsafe X509_get0_pubkey(pointer) else { return .unknown }
        return unsafe PublicKeyFacts(of: key)
    }

    /// The names and the addresses that it is valid for.
    borrowing func alternativeNames() throws(CryptographyError) -> (names: [String], addresses: [String]) {
        ErrorQueue.clear()
        var malformed: Int32 = 0
        guard let list = unsafe ccryptography_names(pointer, &malformed) else {
            guard malformed == 0 else {
                throw CryptographyError(.malformed, "the certificate's alternative names cannot be read")
            }
            return ([], [])
        }
        defer { unsafe ccryptography_names_free(list) }
        var (names, addresses): ([String], [String]) = ([], [])
        for index in 0..<(unsafe ccryptography_names_count(list)) {
            var start: UnsafePointer<UInt8>?
            var count = 0
            let type = unsafe ccryptography_names_get(list, index, &start, &count)
            guard type == GEN_DNS || type == GEN_IPADD else { continue }
            let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
            if type == GEN_DNS {
                names.append(PlainText.escape(String(decoding: bytes, as: UTF8.self)))
            } else {
                addresses.append(IPAddress(bytes)?.description ?? "malformed address \(Hexadecimal.encode(bytes))")
            }
        }
        return (names, addresses)
    }

    // MARK: Parts

    private static func text(of name: OpaquePointer?) throws(CryptographyError) -> String {
        ErrorQueue.clear()
        let text = try MemoryBIO()
        if unsafe ccryptography_print_name(text.handle, name) >= 0 { return PlainText.escape(text.text()) }
        // A name in a broken encoding is still shown, in the older form that escapes every unusual byte.
        ErrorQueue.clear()
        guard let line = unsafe X509_NAME_oneline(name, nil, 0) else { throw ErrorQueue.failure("read a name") }
        defer { unsafe ccryptography_free(line) }
        return PlainText.escape(unsafe String(cString: line))
    }

    private static func moment(_ time: UnsafePointer<ASN1_TIME>?) throws(CryptographyError) -> Timestamp {
        var seconds: Int64 = 0
        guard unsafe ccryptography_seconds(time, &seconds) == 1 else {
            throw CryptographyError(.malformed, "the certificate's dates cannot be read")
        }
        return Timestamp(microseconds: seconds * 1_000_000)
    }
}
