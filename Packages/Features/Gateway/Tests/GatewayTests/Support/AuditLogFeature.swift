import Capabilities
import CoreTesting
import Registry
import Settings

/// An audit log in memory, which all commands of a composition share.
struct AuditLogFeature: Feature {
    static let manifest = Manifest(
        id: "audit", summary: "An audit log in memory", version: "1.0", provides: [.single((any AuditLog).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        let log = registry.shared("log") { [now = registry.surroundings.now] in RecordingAuditLog(now: now) }
        registry.provide((any AuditLog).self, log as any AuditLog)
    }
}
