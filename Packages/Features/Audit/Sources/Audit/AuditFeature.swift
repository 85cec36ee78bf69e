import Capabilities
import Cryptography
public import Registry
import Screens
public import Settings
import StorageKit

/// The log of what models, clients and the gateway did, which all features share.
public struct AuditFeature: Feature {
    public static let manifest = Manifest(
        id: "audit", summary: "A log of what was done, which cannot be changed unnoticed", version: "0.1.0",
        provides: [.single((any AuditLog).self), .shared((any DataStore).self)],
        // Optional, so that the log opens before all features that need the vault, and closes after them.
        needs: [.optional((any SecretStore).self)])

    public init(_ settings: FeatureSettings) {}

    public func register(in registry: inout RegistryBuilder) {
        let (surroundings, whole) = (registry.surroundings, registry.whole)
        let key = SealKey(surroundings) { whole.registry?.optional((any SecretStore).self) }
        let database = AuditStore.database(at: "\(surroundings.locations.data)/audit.db") {
            $0.tell(ActionContext.current?.warn)
        }
        let log = AuditStore(database, key: key, without: surroundings.redactor, now: surroundings.now)
        registry.closes(log.close)
        registry.provide((any AuditLog).self, log)
        registry.provide(
            (any DataStore).self,
            DatabaseStore(id: "audit.log", summary: "The log of what was done", database: database))
        registry.uses(Library("libssl") { Digest.libraryVersion })
        registry.uses(Library("libsqlite3") { Database.libraryVersion })
        for action in AuditActions(log).all { registry.add(action) }
        registry.addScreen(
            "audit.log", "Audit", .tab("Settings"), listing: "audit.list", id: "number",
            offering: [.action("audit.verify", "Verify", key: "v")], every: .seconds(10))
    }
}
