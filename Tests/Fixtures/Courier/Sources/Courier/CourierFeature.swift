import Capabilities
public import Registry
public import Settings

/// Needs a model and does nothing with it.
public struct CourierFeature: Feature {
    public static let manifest = Manifest(
        id: "courier", summary: "Needs a model", version: "1.0", needs: [.one((any ModelProvider).self)])

    public init(_ settings: FeatureSettings) {}

    public func register(in registry: inout RegistryBuilder) {
        registry.add(Action("courier.ready", "Say whether it is ready", .reads) { _ in "ready" })
    }
}
