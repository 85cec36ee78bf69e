/// What a server showed of itself, and what the system found wrong with it.
public struct PresentedCertificate: Sendable, Hashable {
    /// The name or address that the person asked for.
    public var host: String
    public var port: Int
    /// Every certificate as DER in the order in which the server sent them, its own first; never empty.
    public var chain: [[UInt8]]
    /// SHA-256 of the server's own certificate.
    public var fingerprint: [UInt8]
    /// SHA-256 of its public key, which stays the same when a certificate is renewed with the same key.
    public var keyFingerprint: [UInt8]
    public var subject: String
    public var issuer: String
    /// The names and addresses that it is valid for.
    public var names: [String]
    public var notBefore: Timestamp
    public var notAfter: Timestamp
    /// Everything that is wrong with it; empty means that the system trusts it for this host.
    public var defects: [CertificateDefect]

    public init(
        host: String, port: Int, chain: [[UInt8]], fingerprint: [UInt8], keyFingerprint: [UInt8], subject: String,
        issuer: String, names: [String], notBefore: Timestamp, notAfter: Timestamp, defects: [CertificateDefect]
    ) {
        self.host = host
        self.port = port
        self.chain = chain
        self.fingerprint = fingerprint
        self.keyFingerprint = keyFingerprint
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.defects = defects
    }

    /// The server's own certificate as DER.
    public var encoded: [UInt8] { chain.first ?? [] }
}

/// One thing that is wrong with a certificate.
public enum CertificateDefect: Sendable, Hashable {
    /// It is signed by itself and nobody vouches for it.
    case selfSigned
    /// The system does not know who signed it, or a link to a known one is missing.
    case unknownIssuer
    /// It is valid for other names than the one asked for.
    case wrongName
    case expired
    case notYetValid
    /// A key that is too short to be safe.
    case weakKey(bits: Int)
    case revoked
    /// Anything else, in the words of the library that found it.
    case other(String)
}

extension CertificateDefect: CustomStringConvertible {
    public var description: String {
        switch self {
        case .selfSigned: "it is self-signed"
        case .unknownIssuer: "it was issued by somebody this system does not know"
        case .wrongName: "it was issued for another name"
        case .expired: "it has expired"
        case .notYetValid: "it is not valid yet"
        case .weakKey(let bits): "its key of \(bits) bits is too short"
        case .revoked: "it was revoked"
        case .other(let words): words
        }
    }
}
