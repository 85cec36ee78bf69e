import Capabilities
import OfflinePlanner
public import Registry
public import Settings

/// The planner as the program's built-in model. The gateway offers it, and Chat reaches it through the gateway when no
/// other model is set up.
public struct OfflineModelFeature: Feature {
    public static let manifest = Manifest(
        id: "offlinemodel", summary: "A planner that answers without a network or an account", version: "0.1.0",
        provides: [.single((any BuiltInModel).self)])

    public init(_ settings: FeatureSettings) {}

    public func register(in registry: inout RegistryBuilder) {
        registry.provide((any BuiltInModel).self, PlannerModel())
    }
}
