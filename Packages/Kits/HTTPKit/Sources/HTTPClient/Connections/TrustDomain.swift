public import Capabilities

/// Whom a client trusts and as whom it shows itself. Everything that shares connections shares one of these.
public struct TrustDomain: Sendable {
    /// Who may vouch for a server.
    public enum Authorities: Sendable, Hashable {
        /// Those of this system.
        case system
        /// Those of this system, and those in a PEM file.
        case systemAnd(file: String)
        /// Those in a PEM file and nobody else.
        case file(String)
        /// Those in a PEM text and nobody else.
        case bytes([UInt8])

        init(_ authorities: TrustCredentials.Authorities) {
            switch authorities {
            case .system: self = .system
            case .systemAnd(let file): self = .systemAnd(file: file)
            case .file(let file): self = .file(file)
            }
        }
    }

    public var authorities: Authorities
    /// Who may vouch for single servers instead, by `host:port`, and for no other.
    public var serverAuthorities: [String: Authorities] = [:]
    /// Who may vouch for one server.
    func authorities(for url: HTTPURL) -> Authorities {
        serverAuthorities["\(url.host):\(url.port)"] ?? authorities
    }

    /// What is shown to every server that asks for a certificate, also to one that a redirect leads to.
    public var identity: ClientIdentity?
    /// What is shown to single servers instead, by `host:port`, and to nobody else.
    public var identities: [String: ClientIdentity] = [:]
    /// What is shown to one server.
    func identity(for url: HTTPURL) -> ClientIdentity? {
        identities["\(url.host):\(url.port)"] ?? identity
    }

    /// Decides about every certificate inside the handshake, so it must answer at once. Without it a certificate
    /// without defects is accepted.
    public var judge: (@Sendable (PresentedCertificate) -> TrustJudgement)?

    /// Called by a request whose server was refused by the judge, in the request's own task. When it returns without an
    /// error, the request is tried once more with a new connection.
    public var settle: (@Sendable (PresentedCertificate) async throws -> Void)?
    /// Called in a request's own task after its server has answered, so that what the judge noticed can be told there.
    public var tell: (@Sendable () -> Void)?
    /// A number that changes when what was accepted may not be any more: connections from before are not used again.
    public var generation: (@Sendable () -> Int)?

    public init(
        authorities: Authorities = .system, identity: ClientIdentity? = nil,
        judge: (@Sendable (PresentedCertificate) -> TrustJudgement)? = nil
    ) {
        self.authorities = authorities
        self.identity = identity
        self.judge = judge
    }

    /// Lets a store decide everything.
    public init(_ store: any TrustStore) {
        let credentials = store.credentials
        authorities = Authorities(credentials.authorities)
        serverAuthorities = credentials.serverAuthorities.mapValues(Authorities.init)
        identity = credentials.identity
        identities = credentials.identities
        judge = { store.judge($0) }
        settle = { try await store.settle($0) }
        tell = { store.tell() }
        generation = { store.generation }
    }

    /// What the system trusts, and no certificate of our own.
    public static let system = TrustDomain()
}
