import Capabilities
import CoreTesting
import Registry
import Settings

/// An audit log in memory, as another feature would offer it.
struct AuditLogFeature: Feature {
    static let manifest = Manifest(
        id: "audit", summary: "An audit log in memory", version: "1", provides: [.single((any AuditLog).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any AuditLog).self, registry.shared("log") { RecordingAuditLog() })
    }
}
