public import Capabilities

/// Whom a client trusts and which certificate it presents. Connections are shared only within one trust domain.
public struct TrustDomain: Sendable {
    /// The authorities that may vouch for a server.
    public enum Authorities: Sendable, Hashable {
        /// The system's authorities.
        case system
        /// The system's authorities and those in a PEM file.
        case systemAnd(file: String)
        /// Only the authorities in a PEM file.
        case file(String)
        /// Only the authorities in a PEM text.
        case bytes([UInt8])

        init(_ authorities: TrustCredentials.Authorities) {
            switch authorities {
            case .system: self = .system
            case .systemAnd(let file): self = .systemAnd(file: file)
            case .file(let file): self = .file(file)
            }
        }
    }

    /// The authorities for servers without an entry in `serverAuthorities`.
    public var authorities: Authorities
    /// Replacement authorities for single servers, by `host:port`.
    public var serverAuthorities: [String: Authorities] = [:]
    /// The authorities for one server.
    func authorities(for url: HTTPURL) -> Authorities {
        serverAuthorities["\(url.host):\(url.port)"] ?? authorities
    }

    /// The certificate for every server that asks for one, also after a redirect.
    public var identity: ClientIdentity?
    /// Replacement certificates for single servers, by `host:port`.
    public var identities: [String: ClientIdentity] = [:]
    /// The certificate for one server.
    func identity(for url: HTTPURL) -> ClientIdentity? {
        identities["\(url.host):\(url.port)"] ?? identity
    }

    /// Judges every certificate during the handshake, so it must not block. Without a judge, certificates without
    /// defects are accepted.
    public var judge: (@Sendable (PresentedCertificate) -> TrustJudgement)?

    /// Called in the request's task after the judge refused its server. If it returns without an error, the request is
    /// tried once more over a new connection.
    public var settle: (@Sendable (PresentedCertificate) async throws -> Void)?
    /// Called in the request's task after its server responded, to report what the judge noticed.
    public var tell: (@Sendable () -> Void)?
    /// A number that changes when earlier decisions may no longer hold; older connections are then not reused.
    public var generation: (@Sendable () -> Int)?

    /// A domain that treats all servers alike, until the properties for single servers are set.
    public init(
        authorities: Authorities = .system, identity: ClientIdentity? = nil,
        judge: (@Sendable (PresentedCertificate) -> TrustJudgement)? = nil
    ) {
        self.authorities = authorities
        self.identity = identity
        self.judge = judge
    }

    /// Lets a store make all decisions.
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

    /// The system's authorities, without a client certificate.
    public static let system = TrustDomain()
}
