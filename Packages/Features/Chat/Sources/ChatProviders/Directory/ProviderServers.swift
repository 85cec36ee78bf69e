public import Capabilities

/// The servers of all that can be asked for an answer. One that was only found on this machine is none of them before the
/// person has agreed to it.
public struct ProviderServers: ServerList {
    private let configured: [ChatServer]
    private let environment: [String: String]
    private let agreed: Set<String>

    /// - Parameter agreed: the ids of the servers on this machine that may be asked without being named.
    public init(_ servers: [ChatServer], environment: [String: String], agreed: Set<String>) {
        configured = servers
        self.environment = environment
        self.agreed = agreed
    }

    public var servers: [String] {
        let vendors = Vendor.all(sendsAttribution: false, usesResponses: false).compactMap { vendor in
            let elsewhere = environment[vendor.addressVariable].flatMap { $0.isEmpty ? nil : $0 }
            return ServerPattern.of(elsewhere ?? vendor.base)
        }
        let servers = ProviderSetup.all(configured, environment).compactMap { server in
            ServerPattern.of(server.address, anyPort: server.kind == .kamiwaza)
        }
        let local = LocalServer.usual.filter { agreed.contains($0.id) }.map { "127.0.0.1:\($0.port)" }
        return vendors + servers + local
    }
}
