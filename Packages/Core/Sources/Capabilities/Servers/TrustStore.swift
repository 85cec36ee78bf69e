/// Decides whom this machine believes to be who they say.
public protocol TrustStore: AnyObject, Sendable {
    /// Judges a server's certificate inside the handshake, so it must answer at once and never ask anybody.
    func judge(_ certificate: PresentedCertificate) -> TrustJudgement
    /// Explains a certificate that was refused to the person, and asks; returns when it is trusted from now on.
    ///
    /// Throws when it is not: nobody is there to ask, or the answer was no.
    func settle(_ certificate: PresentedCertificate) async throws
    /// Tells the person what was noticed while judging and is no reason to refuse, such as a pinned certificate that has
    /// expired; once for each server.
    func tell()
    /// Changes whenever something that was trusted may not be any more, also by another process. A connection that was
    /// made under another generation is not used again. It must answer at once.
    var generation: Int { get }
    /// Who may vouch for servers, and as whom this machine shows itself to them.
    var credentials: TrustCredentials { get }
}

/// The verdict on a certificate.
public enum TrustJudgement: Sendable, Hashable {
    case accepted
    /// Refused, with the reason and what a person can do about it.
    case refused(String)
}

/// The files that TLS is set up with.
public struct TrustCredentials: Sendable {
    /// Who may vouch for a server.
    public enum Authorities: Sendable, Hashable {
        /// Those of this system.
        case system
        /// Those of this system, and those in a PEM file.
        case systemAnd(file: String)
        /// Those in a PEM file and nobody else.
        case file(String)
    }

    public var authorities: Authorities
    /// Who may vouch for single servers instead, by `host:port`, and for no other.
    public var serverAuthorities: [String: Authorities] = [:]
    /// As whom this machine shows itself to servers that ask for a certificate.
    public var identity: ClientIdentity?
    /// As whom it shows itself to single servers instead, by `host:port`, and to nobody else.
    public var identities: [String: ClientIdentity] = [:]

    public init(authorities: Authorities = .system, identity: ClientIdentity? = nil) {
        self.authorities = authorities
        self.identity = identity
    }
}

/// A certificate of our own and its key, as PEM files.
public struct ClientIdentity: Sendable {
    public var certificate: String
    public var key: String
    public var passphrase: Secret?

    public init(certificate: String, key: String, passphrase: Secret? = nil) {
        self.certificate = certificate
        self.key = key
        self.passphrase = passphrase
    }
}

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
