import Capabilities
public import Registry
public import Settings

/// Needs tools and does nothing with them.
public struct CourierFeature: Feature {
    public static let manifest = Manifest(
        id: "courier", summary: "Needs tools", version: "1.0", needs: [.one((any ToolSource).self)])

    public init(_ settings: FeatureSettings) {}

    public func register(in registry: inout RegistryBuilder) {
        registry.add(Action("courier.ready", "Say whether it is ready", .reads) { _ in "ready" })
    }
}
