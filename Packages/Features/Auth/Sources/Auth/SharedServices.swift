import Synchronization

/// The services that a feature made when it registered, for when it runs.
final class SharedServices: Sendable {
    private let held = Mutex<AuthServices?>(nil)

    var services: AuthServices? { held.withLock { $0 } }

    func set(_ services: AuthServices) { held.withLock { $0 = services } }
}
