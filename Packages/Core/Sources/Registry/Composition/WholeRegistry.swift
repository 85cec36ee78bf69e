import Synchronization

/// The registry of a composition, once every feature has registered.
///
/// What a feature made may keep it, because it keeps nothing alive itself.
public final class WholeRegistry: Sendable {
    private struct Contents {
        weak var registry: Registry?
    }

    private let contents = Mutex(Contents())

    /// Nil while features register, and when the composition is gone.
    public var registry: Registry? { contents.withLock { $0.registry } }

    func fill(_ registry: Registry) {
        contents.withLock { $0.registry = registry }
    }
}
