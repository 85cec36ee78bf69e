/// Decides which servers this machine trusts to be who they claim to be.
public protocol TrustStore: AnyObject, Sendable {
    /// Judges a server's certificate during the handshake, so it must answer at once and never ask.
    func judge(_ certificate: PresentedCertificate) -> TrustJudgement
    /// Explains a refused certificate to the person and asks whether to trust it. Returns once it is trusted.
    ///
    /// Throws if it is not trusted: nobody is there to ask, or the answer was no.
    func settle(_ certificate: PresentedCertificate) async throws
    /// Tells the person what was noticed during judging but is not a reason to refuse, such as an expired pinned
    /// certificate. Once for each server.
    func tell()
    /// Changes whenever something may no longer be trusted, also through another process. Connections of an older
    /// generation are not reused. It must answer at once.
    var generation: Int { get }
    /// Who may vouch for servers, and this machine's own identity for them.
    var credentials: TrustCredentials { get }
}

/// The verdict on a certificate.
public enum TrustJudgement: Sendable, Hashable {
    /// The connection may be used.
    case accepted
    /// Refused, with the reason and what the person can do about it.
    case refused(String)
}

/// The files for setting up TLS.
public struct TrustCredentials: Sendable {
    /// The authorities that may vouch for a server.
    public enum Authorities: Sendable, Hashable {
        /// Those of this system.
        case system
        /// Those of this system, and those in a PEM file.
        case systemAnd(file: String)
        /// Only those in a PEM file.
        case file(String)
    }

    /// Those that may vouch for every server that `serverAuthorities` does not name.
    public var authorities: Authorities
    /// Authorities that replace these for single servers, by `host:port`, and vouch for no other server.
    public var serverAuthorities: [String: Authorities] = [:]
    /// This machine's identity for servers that ask for a client certificate.
    public var identity: ClientIdentity?
    /// Identities that replace this one for single servers, by `host:port`, and are shown to no other server.
    public var identities: [String: ClientIdentity] = [:]

    /// By default the system's authorities are used and no certificate is shown. Single servers are set afterwards.
    public init(authorities: Authorities = .system, identity: ClientIdentity? = nil) {
        self.authorities = authorities
        self.identity = identity
    }
}

/// A certificate of our own and its key, as PEM files.
public struct ClientIdentity: Sendable {
    /// The path of the certificate.
    public var certificate: String
    /// The path of its private key, which can be in the same file.
    public var key: String
    /// Decrypts the key; nil if the key is not encrypted.
    public var passphrase: Secret?

    /// Takes the paths; the files are read when a connection is made.
    public init(certificate: String, key: String, passphrase: Secret? = nil) {
        self.certificate = certificate
        self.key = key
        self.passphrase = passphrase
    }
}

/// The certificate that a server presented, and what the system found wrong with it.
public struct PresentedCertificate: Sendable, Hashable {
    /// The name or address that the person requested.
    public var host: String
    /// The port that the person requested, or that of the scheme.
    public var port: Int
    /// Every certificate as DER in the order in which the server sent them, its own first; never empty.
    public var chain: [[UInt8]]
    /// SHA-256 of the server's own certificate.
    public var fingerprint: [UInt8]
    /// SHA-256 of its public key, which does not change if a certificate is renewed with the same key.
    public var keyFingerprint: [UInt8]
    /// The holder of the certificate, as a distinguished name.
    public var subject: String
    /// The authority that signed the certificate, as a distinguished name.
    public var issuer: String
    /// The names and addresses that the certificate is valid for.
    public var names: [String]
    /// When the certificate becomes valid.
    public var notBefore: Timestamp
    /// When the certificate expires.
    public var notAfter: Timestamp
    /// Everything that is wrong with it; if empty, the system trusts it for this host.
    public var defects: [CertificateDefect]

    /// Used by code that performs handshakes.
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
    /// It is self-signed and no authority vouches for it.
    case selfSigned
    /// The system does not know the issuer, or an intermediate certificate is missing.
    case unknownIssuer
    /// It is valid for other names than the requested one.
    case wrongName
    /// It is no longer valid.
    case expired
    /// It is not valid yet.
    case notYetValid
    /// The key is too short to be safe.
    case weakKey(bits: Int)
    /// Its issuer has withdrawn it.
    case revoked
    /// Another defect, in the words of the library that found it.
    case other(String)
}

extension CertificateDefect: CustomStringConvertible {
    public var description: String {
        switch self {
        case .selfSigned: "it is self-signed"
        case .unknownIssuer: "it was issued by an authority this system does not know"
        case .wrongName: "it was issued for another name"
        case .expired: "it has expired"
        case .notYetValid: "it is not valid yet"
        case .weakKey(let bits): "its key of \(bits) bits is too short"
        case .revoked: "it was revoked"
        case .other(let words): words
        }
    }
}
