import Capabilities
import Registry
import Settings
import Synchronization

/// A vault in memory, which all commands of a test share by its folder.
struct MemoryVault: Feature {
    static let manifest = Manifest(
        id: "vault", summary: "Secrets in memory", version: "1.0", provides: [.single((any SecretStore).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any SecretStore).self, Store.of(registry.surroundings.locations.data))
    }

    final class Store: SecretStore {
        private static let stores = Mutex<[String: Store]>([:])
        private let kept = Mutex<[SecretName: Secret]>([:])

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
        provides: [.single((any SecretStore).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        let environment = registry.surroundings.environment
        registry.provide((any SecretStore).self, EnvironmentSecretStore { environment })
    }
}
