public import Capabilities

/// Whom a client trusts and as whom it shows itself. Everything that shares connections shares one of these.
public struct TrustDomain: Sendable {
    /// Who may vouch for a server.
    public enum Authorities: Sendable, Hashable {
        /// Those of this system.
        case system
        /// Those in a PEM file and nobody else.
        case file(String)
        /// Those in a PEM text and nobody else.
        case bytes([UInt8])
    }

    public var authorities: Authorities
    /// What is shown to every server that asks for a certificate, also to one that a redirect leads to.
    public var identity: ClientIdentity?
    /// Decides about every certificate inside the handshake, so it must answer at once. Without it a certificate
    /// without defects is accepted.
    public var judge: (@Sendable (PresentedCertificate) -> TrustJudgement)?

    public init(
        authorities: Authorities = .system, identity: ClientIdentity? = nil,
        judge: (@Sendable (PresentedCertificate) -> TrustJudgement)? = nil
    ) {
        self.authorities = authorities
        self.identity = identity
        self.judge = judge
    }

    /// Lets a store decide.
    public init(authorities: Authorities = .system, identity: ClientIdentity? = nil, store: any TrustStore) {
        self.init(authorities: authorities, identity: identity) { store.judge($0) }
    }

    /// What the system trusts, and no certificate of our own.
    public static let system = TrustDomain()
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
