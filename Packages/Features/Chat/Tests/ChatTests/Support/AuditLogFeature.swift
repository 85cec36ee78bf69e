import Capabilities
import CoreTesting
import Registry
import Settings
import Synchronization

/// An audit log in memory, which all commands of a desk share by its folder.
struct AuditLogFeature: Feature {
    static let manifest = Manifest(
        id: "audit", summary: "An audit log in memory", version: "1.0", provides: [.single((any AuditLog).self)])

    private static let logs = Mutex<[String: RecordingAuditLog]>([:])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any AuditLog).self, Self.log(in: registry.surroundings.locations.data) as any AuditLog)
    }

    static func log(in folder: String) -> RecordingAuditLog {
        logs.withLock { logs in
            let log = logs[folder] ?? RecordingAuditLog()
            logs[folder] = log
            return log
        }
    }
}

extension Desk {
    var log: RecordingAuditLog { AuditLogFeature.log(in: "\(folder)/data") }
}
