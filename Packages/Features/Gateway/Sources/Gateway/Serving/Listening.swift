import Capabilities
import Cryptography
import HTTPServer
import Registry
import Settings

/// What `serve` was told for this once, instead of what the settings say.
struct ServeWish: Sendable {
    var address: String?
    var port: Int?
    var socket: String?
}

/// Where the gateway listens.
struct Listening {
    let settings: FeatureSettings
    let surroundings: Surroundings

    /// The sockets that a service manager passed on, else the address of the settings; and the Unix socket, if any.
    func addresses(_ wish: ServeWish, _ identity: Identity?) throws -> [ListenAddress] {
        let tls = try identity.map { try TLSServerContext(identity: $0) }
        func secured(_ address: ListenAddress) -> ListenAddress { tls.map { address.secured(by: $0) } ?? address }
        var addresses = try InheritedSockets.addresses(environment: surroundings.environment)
            .map { $0.isUnixSocket ? $0 : secured($0) }
        if addresses.isEmpty {
            let port = wish.port ?? settings[GatewaySettings.port]
            guard let number = UInt16(exactly: port) else {
                throw ServingError(.settings, "\(port) is no port; choose one from 1 to 65535, or 0 for any")
            }
            addresses = [secured(.ip(wish.address ?? settings[GatewaySettings.address], port: number))]
        }
        if let path = wish.socket ?? settings[GatewaySettings.socket]?.text {
            // Nobody can listen in between there.
            addresses.append(.unix(surroundings.locations.absolute(path)))
        }
        return addresses
    }
}
