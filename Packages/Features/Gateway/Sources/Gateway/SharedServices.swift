import Synchronization

/// The services that a feature made when it registered, for when it runs.
final class SharedServices: Sendable {
    private let held = Mutex<GatewayServices?>(nil)

    var services: GatewayServices? { held.withLock { $0 } }

    func set(_ services: GatewayServices) { held.withLock { $0 = services } }
}
