import Capabilities
import OfflinePlanner
import Registry
import Settings

/// The built-in model, which a feature of another package provides in the real program.
struct PlannerFeature: Feature {
    static let manifest = Manifest(
        id: "planner", summary: "The built-in model", version: "1.0", provides: [.single((any BuiltInModel).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any BuiltInModel).self, PlannerModel())
    }
}
