import CCryptography
import COpenSSL
import Capabilities
import Glibc

/// Owns one reference to a certificate of libcrypto.
@safe
struct X509Handle: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over a reference.
    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    /// Adds a reference to a certificate with another owner.
    init(retaining pointer: OpaquePointer) {
        unsafe X509_up_ref(pointer)
        unsafe self.pointer = pointer
    }

    /// Parses one certificate, which must use all of `der`.
    init(der: Span<UInt8>) throws(CryptographyError) {
        ErrorQueue.clear()
        var used = 0
        let pointer: OpaquePointer? = unsafe der.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var next: UnsafePointer<UInt8>? = unsafe start
            let certificate = unsafe d2i_X509(nil, &next, bytes.count)
            if let next = unsafe next { used = unsafe next - start }
            return unsafe certificate
        }
        guard let pointer = unsafe pointer else {
            throw CryptographyError(.malformed, "this is not a certificate: \(ErrorQueue.reason())")
        }
        guard used == der.count else {
            unsafe X509_free(pointer)
            throw CryptographyError(.malformed, "there are \(der.count - used) extra bytes after the certificate")
        }
        unsafe self.pointer = pointer
    }

    deinit { unsafe X509_free(pointer) }

    /// The certificate as DER.
    borrowing func encoded() throws(CryptographyError) -> [UInt8] {
        ErrorQueue.clear()
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509(pointer, &bytes)
        guard let bytes = unsafe Self.take(bytes, count) else { throw ErrorQueue.failure("write a certificate") }
        return bytes
    }

    /// Copies bytes that the library allocated, and frees them. Nil when there are none.
    static func take(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> [UInt8]? {
        guard let start = unsafe start else { return nil }
        defer { unsafe ccryptography_free(start) }
        return count < 0 ? nil : unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}

extension X509Handle {
    /// "CN=example.org,O=Example": the parts in the order of RFC 2253, with control characters escaped.
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
        // A name with an invalid encoding is shown in the older format, which escapes every unusual byte.
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

extension X509Handle {
    /// Whether it is valid for the requested host: an address, or a name with or without a final dot.
    borrowing func matches(host: String) -> Bool {
        defer { ErrorQueue.clear() }
        if let address = IPAddress(host) {
            return unsafe X509_check_ip(pointer, address.bytes, address.bytes.count, 0) == 1
        }
        var name = Array(host.utf8)
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        // The library treats a name with a leading dot as any name below it, and the length 0 as "measure it".
        guard let first = name.first, first != UInt8(ascii: "."), !name.contains(0), !name.contains(UInt8(ascii: "*"))
        else { return false }
        // The library would also use the common name when all alternative names are addresses.
        let hasAlternatives = unsafe X509_get_ext_by_NID(pointer, NID_subject_alt_name, -1) >= 0
        let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | (hasAlternatives ? X509_CHECK_FLAG_NEVER_CHECK_SUBJECT : 0)
        return unsafe name.withUnsafeBytes { bytes in
            unsafe X509_check_host(
                pointer, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, UInt32(flags), nil) == 1
        }
    }
}

/// Owns a memory BIO of libcrypto for reading and writing texts. Freeing it wipes its content.
@safe
struct MemoryBIO: ~Copyable {
    let handle: OpaquePointer

    init() throws(CryptographyError) {
        guard let handle = unsafe BIO_new(BIO_s_mem()) else { throw ErrorQueue.failure("allocate memory") }
        unsafe self.handle = handle
    }

    /// Creates a BIO with a copy of bytes to read.
    static func holding(_ bytes: Span<UInt8>) throws(CryptographyError) -> MemoryBIO {
        guard bytes.count <= limit else {
            throw CryptographyError(.malformed, "\(bytes.count) bytes are over the limit for certificates and keys")
        }
        let bio = try MemoryBIO()
        guard !bytes.isEmpty else { return bio }
        let written = unsafe bytes.withUnsafeBytes { unsafe BIO_write(bio.handle, $0.baseAddress, Int32($0.count)) }
        guard written == bytes.count else { throw ErrorQueue.failure("allocate memory") }
        return bio
    }

    deinit { unsafe BIO_free(handle) }

    /// Much larger than the bundle of all public authorities.
    static let limit = 16 << 20

    /// Passes the content to `body`.
    borrowing func withContent<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var start: UnsafePointer<UInt8>?
        let count = unsafe ccryptography_bio_content(handle, &start)
        return unsafe body(UnsafeBufferPointer(start: start, count: count))
    }

    /// The content as text. Invalid UTF-8 is repaired.
    borrowing func text() -> String {
        unsafe withContent { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

/// An address of 4 or 16 bytes, as in certificates.
struct IPAddress: Hashable, CustomStringConvertible {
    let bytes: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Parses the usual formats, including `[::1]` from URLs. A zone (`%eth0`) is ignored.
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
