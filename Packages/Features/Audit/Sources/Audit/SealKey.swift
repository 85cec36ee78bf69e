import Capabilities
import Cryptography
import FileKit
import Registry
import Synchronization

/// The key of the seals. It is kept in the vault, under the name ``name``.
///
/// Recording must never wait for a person, so a vault that would ask for its passphrase counts as closed: entries are
/// then written without seals. A key is created only in a vault that is there and open, or by `audit.seal`.
final class SealKey: Sendable {
    static let name: SecretName = "martlet.audit"
    private let secrets: @Sendable () -> (any SecretStore)?
    private let surroundings: Surroundings
    private let state = Mutex(State())
    /// Limits how often a closed vault is tried, since a wrong passphrase in the environment takes a second each time.
    private static let interval = Duration.seconds(30)

    private struct State {
        var key: SecretBytes?
        var lookedAt: Timestamp?
    }

    /// - Parameter secrets: nil once the composition has ended.
    init(_ surroundings: Surroundings, secrets: @escaping @Sendable () -> (any SecretStore)?) {
        self.surroundings = surroundings
        self.secrets = secrets
    }

    /// The key, if it can be had without a question.
    ///
    /// - Parameter mayCreate: whether a new key would fit the log, which is so while it has no seals.
    func quiet(mayCreate: () async -> Bool) async -> SecretBytes? {
        let now = surroundings.now()
        let known = state.withLock { state -> State? in
            if state.key != nil { return state }
            if let last = state.lookedAt, (.zero..<Self.interval).contains(now - last) { return state }
            state.lookedAt = now
            return nil
        }
        if let known { return known.key }
        return await ActionContext.$current.withValue(nil) {
            // Without a key entries have no seals, which `audit.verify` reports.
            do {
                if let found = try await find() { return found }
                guard let store = secrets(), await store.isReady(), await mayCreate() else { return nil }
                return try await create(in: store, within: .seconds(1))
            } catch {
                return nil
            }
        }
    }

    /// The key in the vault, which may ask for its passphrase; nil if there is none.
    func find() async throws -> SecretBytes? {
        guard let secret = try await secrets()?.secret(named: Self.name) else { return nil }
        return learn(secret)
    }

    /// Creates the key, unless another program has done so meanwhile. A vault that is made for it asks how.
    func create() async throws -> SecretBytes {
        guard let store = secrets() else { throw SecretStoreError.readOnly(Self.name) }
        // The user of another command may have to type a passphrase meanwhile.
        return try await create(in: store, within: .seconds(300))
    }

    private func create(in store: any SecretStore, within limit: Duration) async throws -> SecretBytes {
        try Files.makeDirectories(surroundings.locations.data)
        let lock = try await FileLock.acquire("\(surroundings.locations.data)/audit.key.lock", within: limit)
        let key = try await made(in: store)
        lock.release()
        return key
    }

    /// Another program may have created it meanwhile.
    private func made(in store: any SecretStore) async throws -> SecretBytes {
        if let found = try await find() { return found }
        let secret = Secret(Base64URL.encode(try Random.bytes(32)))
        surroundings.redactor.learn(secret, named: Self.name.text)
        try await store.store(secret, named: Self.name)
        return learn(secret)
    }

    private func learn(_ secret: Secret) -> SecretBytes {
        surroundings.redactor.learn(secret, named: Self.name.text)
        let key = SecretBytes(secret)
        state.withLock { $0.key = key }
        return key
    }
}
