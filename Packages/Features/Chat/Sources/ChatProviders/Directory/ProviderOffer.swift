public import Capabilities
import OpenAIDialect

/// What is known of a provider before it is created.
public struct ProviderOffer: Sendable, Hashable {
    /// The id by which users and settings name it.
    public let id: String
    /// The name for messages.
    public let name: String
    /// Whether it runs its own tools.
    public let runsTools: Bool
    /// Whether it exists only while a server answers at its usual port of this machine.
    public var isFound = false
}

extension ProviderDirectory {
    /// The providers of a directory with these servers, in its order, without those of other features.
    ///
    /// - Parameter local: the servers that may be found on this machine.
    public static func offers(
        _ servers: [ChatServer], environment: [String: String], local: [LocalServer] = LocalServer.usual
    ) -> [ProviderOffer] {
        let vendors = Vendor.all(sendsAttribution: false, usesResponses: false)
        return vendors.map { ProviderOffer(id: $0.id, name: $0.name, runsTools: false) }
            + ProviderSetup.all(servers, environment).map {
                ProviderOffer(id: $0.name, name: $0.name, runsTools: $0.kind == .gateway)
            }
            + local.filter { place in !servers.contains { $0.name == place.id } }.map {
                ProviderOffer(id: $0.id, name: $0.name, runsTools: false, isFound: true)
            }
    }
}

/// The servers that may be asked for an answer. A server that was only found on this machine is included once the user
/// has approved it.
public struct ProviderServers: ServerList {
    private let configured: [ChatServer]
    private let environment: [String: String]
    private let agreed: Set<String>

    /// - Parameter agreed: the ids of the servers on this machine that may be used without being named.
    public init(_ servers: [ChatServer], environment: [String: String], agreed: Set<String>) {
        configured = servers
        self.environment = environment
        self.agreed = agreed
    }

    public var servers: [String] {
        let vendors = Vendor.all(sendsAttribution: false, usesResponses: false).compactMap { vendor in
            ServerPattern.of(vendor.address(in: environment))
        }
        let servers = ProviderSetup.all(configured, environment).compactMap { server in
            ServerPattern.of(server.address, anyPort: server.kind == .kamiwaza)
        }
        let local = LocalServer.usual.filter { agreed.contains($0.id) }.map { "127.0.0.1:\($0.port)" }
        return vendors + servers + local
    }
}
