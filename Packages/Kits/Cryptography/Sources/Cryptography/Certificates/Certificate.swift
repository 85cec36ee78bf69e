public import Capabilities

/// A certificate (X.509) with its facts read out; two are equal when their bytes are.
///
///     let chain = try Certificate.chain(pem: bytes.span)
///     print(chain[0].subject, chain[0].notAfter.iso8601)
public struct Certificate: Sendable {
    /// The certificate as DER.
    public let encoded: [UInt8]
    /// Whom it names, in one line: "CN=example.org,O=Example". Characters that a terminal would obey are escaped.
    public let subject: String
    /// Who vouches for it, in the same form.
    public let issuer: String
    public let commonName: String?
    /// The names that it is valid for, such as `example.org` and `*.example.org`.
    public let dnsNames: [String]
    /// The addresses that it is valid for.
    public let addresses: [String]
    public let notBefore: Timestamp
    public let notAfter: Timestamp
    /// Hexadecimal digits.
    public let serial: String
    public let key: PublicKeyFacts
    /// In the library's words: "ecdsa-with-SHA256".
    public let signatureAlgorithm: String
    /// SHA-256 of `encoded`.
    public let fingerprint: [UInt8]
    /// SHA-256 of the public key with its algorithm, which a renewal with the same key keeps.
    public let keyFingerprint: [UInt8]
    /// Whether subject and issuer are the same.
    public let isSelfIssued: Bool

    /// Reads one certificate that fills all of `der`.
    public init(der: [UInt8]) throws(CryptographyError) {
        try self.init(reading: X509Handle(der: der.span), encoded: der)
    }

    init(_ handle: borrowing X509Handle) throws(CryptographyError) {
        try self.init(reading: handle, encoded: handle.encoded())
    }

    private init(reading handle: borrowing X509Handle, encoded: [UInt8]) throws(CryptographyError) {
        self.encoded = encoded
        subject = try handle.subject()
        issuer = try handle.issuer()
        commonName = handle.commonName()
        (dnsNames, addresses) = try handle.alternativeNames()
        notBefore = try handle.notBefore()
        notAfter = try handle.notAfter()
        serial = try handle.serial()
        key = handle.key()
        signatureAlgorithm = handle.signatureAlgorithm()
        fingerprint = Digest.sha256(encoded)
        keyFingerprint = try handle.keyFingerprint()
        isSelfIssued = handle.isSelfIssued()
    }

    /// Whether it is valid for a host: a name with or without a final dot, or an address, also `[::1]`.
    ///
    /// A common name counts only when there are no alternative names.
    public func matches(host: String) -> Bool {
        // These bytes were read once already, so only a lack of memory can end this early.
        guard let handle = makeHandle() else { return false }
        return handle.matches(host: host)
    }

    private func makeHandle() -> X509Handle? {
        do { return try X509Handle(der: encoded.span) } catch { return nil }
    }
}

extension Certificate: Hashable {
    public static func == (left: Certificate, right: Certificate) -> Bool { left.encoded == right.encoded }
    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}
