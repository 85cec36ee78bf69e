import Capabilities
import HTTPClient
import HTTPCore
import Registry
import Synchronization

/// The HTTP clients of the feature. Nothing is opened before one is needed.
final class Clients: Sendable {
    private let surroundings: Surroundings
    private let whole: WholeRegistry
    private let clients = Mutex([Bool: HTTPClient]())

    init(_ surroundings: Surroundings, _ whole: WholeRegistry) {
        self.surroundings = surroundings
        self.whole = whole
    }

    /// - Parameter isOwn: whether it is for servers of the person's profiles.
    func client(ofOwnServers isOwn: Bool) -> HTTPClient {
        clients.withLock { clients in
            if let made = clients[isOwn] { return made }
            var configuration = HTTPClient.Configuration()
            if let trust = whole.registry?.optional((any TrustStore).self) { configuration.trust = TrustDomain(trust) }
            // The person's certificate is for their own servers, not for any server of tools.
            if !isOwn { (configuration.trust.identity, configuration.trust.identities) = (nil, [:]) }
            configuration.proxies = ProxySettings(environment: surroundings.environment)
            configuration.feature = "mcp"
            configuration.sendsTraceparent = true
            configuration.now = surroundings.now
            let made = HTTPClient(configuration)
            clients[isOwn] = made
            return made
        }
    }

    func close() async {
        let made = clients.withLock { clients in
            defer { clients = [:] }
            return Array(clients.values)
        }
        for client in made { await client.close() }
    }
}
