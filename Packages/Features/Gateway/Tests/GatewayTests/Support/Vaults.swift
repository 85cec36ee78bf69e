import Capabilities
import FileKit
import Registry
import Settings
import Synchronization

/// A vault in memory, which all commands of a test share by its folder.
struct MemoryVault: Feature {
    static let manifest = Manifest(
        id: "vault", summary: "Secrets in memory", version: "1.0",
        provides: [.single((any SecretStore).self), .single((any FolderRules).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any SecretStore).self, Store.of(registry.surroundings.locations.data))
        registry.provideFolderRules()
    }

    final class Store: SecretStore {
        private static let stores = Mutex<[String: Store]>([:])
        private let kept = Mutex<[SecretName: Secret]>([:])
        /// How often a secret was read.
        let readers = Atomic(0)

        static func of(_ folder: String) -> Store {
            stores.withLock { stores in
                let store = stores[folder] ?? Store()
                stores[folder] = store
                return store
            }
        }

        func secret(named name: SecretName) async -> Secret? { kept.withLock { $0[name] } }
        func store(_ secret: Secret, named name: SecretName) async { kept.withLock { $0[name] = secret } }
        func remove(named name: SecretName) async { kept.withLock { $0[name] = nil } }
        func names() async -> [SecretName] { kept.withLock { Array($0.keys) } }
    }
}

/// A build without a vault: only the environment has secrets.
struct NoVault: Feature {
    static let manifest = Manifest(
        id: "environment", summary: "Secrets of the environment", version: "1.0",
        provides: [.single((any SecretStore).self), .single((any FolderRules).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provideFolderRules()
        let environment = registry.surroundings.environment
        registry.provide((any SecretStore).self, EnvironmentSecretStore { environment })
    }
}

/// A vault in memory whose first readers wait until there are `crowd` of them, so that all have seen the same.
struct CrowdedVault: Feature {
    static let crowd = 8
    static let manifest = Manifest(
        id: "vault", summary: "Secrets in memory", version: "1.0",
        provides: [.single((any SecretStore).self), .single((any FolderRules).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provideFolderRules()
        let store = MemoryVault.Store.of(registry.surroundings.locations.data)
        registry.provide((any SecretStore).self, Crowded(store: store) as any SecretStore)
    }

    private final class Crowded: SecretStore {
        private let store: MemoryVault.Store

        init(store: MemoryVault.Store) {
            self.store = store
        }

        func secret(named name: SecretName) async -> Secret? {
            let secret = await store.secret(named: name)
            store.readers.add(1, ordering: .relaxed)
            while store.readers.load(ordering: .relaxed) < CrowdedVault.crowd { await Task.yield() }
            return secret
        }

        func store(_ secret: Secret, named name: SecretName) async { await store.store(secret, named: name) }
        func remove(named name: SecretName) async { await store.remove(named: name) }
        func names() async -> [SecretName] { await store.names() }
    }
}

extension RegistryBuilder {
    /// The records of folders, which the host has in the real program.
    fileprivate mutating func provideFolderRules() {
        provide(
            (any FolderRules).self,
            FolderRecordFile("\(surroundings.locations.state)/folders.json") as any FolderRules)
    }
}
