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
