import Capabilities

/// What a running feature is given: its surroundings, the registry, and a way to say how it is.
public struct FeatureHost: Sendable {
    public let host: Host
    public let registry: Registry
    private let tell: @Sendable (Health) -> Void

    public init(host: Host, registry: Registry, tell: @escaping @Sendable (Health) -> Void) {
        self.host = host
        self.registry = registry
        self.tell = tell
    }

    /// The first `.ok` or `.degraded` ends the start; later ones change what people see.
    public func report(_ health: Health) {
        tell(health)
    }
}
