import Synchronization

/// What a feature made when it registered, for when it runs. An object, since features are values.
///
/// ```swift
/// private let services = Held<MailServices>()      // register: services.hold(made)   run: await services.value?.close()
/// ```
public final class Held<Value: Sendable>: Sendable {
    private let held = Mutex<Value?>(nil)

    public init() {}

    /// Nil before the feature was registered.
    public var value: Value? { held.withLock { $0 } }

    public func hold(_ value: Value) { held.withLock { $0 = value } }
}
