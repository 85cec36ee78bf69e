import CCryptography
import COpenSSL
public import Capabilities

/// A parsed X.509 certificate. Two are equal when their bytes are equal.
///
///     let chain = try Certificate.chain(pem: bytes.span)
///     print(chain[0].subject, chain[0].notAfter.iso8601)
public struct Certificate: Sendable {
    /// The certificate as DER.
    public let encoded: [UInt8]
    /// The subject in one line: "CN=example.org,O=Example". Control characters are escaped.
    public let subject: String
    /// The issuer, in the same format.
    public let issuer: String
    /// The common name of the subject; nil if it has none. It need not be a host name.
    public let commonName: String?
    /// The names that it is valid for, such as `example.org` and `*.example.org`.
    public let dnsNames: [String]
    /// The addresses that it is valid for.
    public let addresses: [String]
    /// The first moment at which it is valid.
    public let notBefore: Timestamp
    /// The last moment at which it is valid.
    public let notAfter: Timestamp
    /// Hexadecimal digits.
    public let serial: String
    /// The kind and length of its public key.
    public let key: PublicKeyFacts
    /// The library's name for it: "ecdsa-with-SHA256".
    public let signatureAlgorithm: String
    /// SHA-256 of `encoded`.
    public let fingerprint: [UInt8]
    /// SHA-256 of the public key with its algorithm. A renewal with the same key does not change it.
    public let keyFingerprint: [UInt8]
    /// Whether subject and issuer are the same.
    public let isSelfIssued: Bool

    /// Parses one certificate, which must use all of `der`.
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

    /// Whether it is valid for a host: a name with or without a final dot, or an address, which may have brackets.
    ///
    /// The common name counts only when there are no alternative names.
    public func matches(host: String) -> Bool {
        // These bytes were parsed before, so this can fail only for lack of memory.
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

extension Certificate {
    /// Parses the certificates of a PEM text in order. At least one is required; other blocks are ignored.
    public static func chain(pem: Span<UInt8>) throws(CryptographyError) -> [Certificate] {
        let text = try MemoryBIO.holding(pem)
        var certificates: [Certificate] = []
        while true {
            ErrorQueue.clear()
            guard let pointer = unsafe ccryptography_read_certificate(text.handle) else { break }
            certificates.append(try Certificate(unsafe X509Handle(owning: pointer)))
        }
        let ended = ccryptography_pem_ended() == 1
        let reason = ErrorQueue.reason()
        guard ended else {
            throw CryptographyError(.malformed, "a certificate cannot be read: \(reason)")
        }
        guard !certificates.isEmpty else {
            throw CryptographyError(.malformed, "the text has no BEGIN CERTIFICATE block")
        }
        return certificates
    }

    /// Reads the first certificate of a PEM text.
    public init(pem: String) throws(CryptographyError) {
        self = try Self.chain(pem: Array(pem.utf8).span)[0]
    }

    /// The certificate as a PEM block.
    public var pem: String {
        var text = "-----BEGIN CERTIFICATE-----\n"
        let digits = Base64.encode(encoded)
        var rest = Substring(digits).utf8
        while !rest.isEmpty {
            text += String(Substring(rest.prefix(64))) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END CERTIFICATE-----\n"
    }
}

/// The kind and the length of a public key.
public struct PublicKeyFacts: Sendable, Hashable {
    /// The kind of a public key.
    public enum Kind: Sendable, Hashable {
        case rsa
        case dsa
        case ellipticCurve
        case ed25519
        case ed448
        /// Another kind, by the library's name.
        case other(String)
    }

    /// The algorithm; `.other` with the library's name for a rare one.
    public let kind: Kind
    /// 0 when the library does not know the kind.
    public let bits: Int

    private init(kind: Kind, bits: Int) {
        self.kind = kind
        self.bits = bits
    }

    static let unknown = PublicKeyFacts(kind: .other("unknown"), bits: 0)

    init(of key: OpaquePointer) {
        let number = unsafe EVP_PKEY_get_base_id(key)
        switch number {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: kind = .rsa
        case EVP_PKEY_DSA: kind = .dsa
        case EVP_PKEY_EC: kind = .ellipticCurve
        case EVP_PKEY_ED25519: kind = .ed25519
        case EVP_PKEY_ED448: kind = .ed448
        default: kind = .other(unsafe OBJ_nid2ln(number).map { unsafe String(cString: $0) } ?? "unknown")
        }
        bits = Int(unsafe EVP_PKEY_get_bits(key))
    }

    /// Whether it can be broken with feasible effort: less than 112 bits of security.
    public var isWeak: Bool {
        switch kind {
        case .rsa, .dsa: bits < 2048
        case .ellipticCurve: bits < 224
        case .ed25519, .ed448, .other: false
        }
    }
}
