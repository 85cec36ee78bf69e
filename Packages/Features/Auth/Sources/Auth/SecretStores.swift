import AuthVault
import Capabilities
import Synchronization

/// Registers every secret that passes through it with the redactor, so that no secret appears in an error or a trace.
/// Code that runs without a caller gets no secrets.
final class RedactingSecretStore: SecretStore {
    private let base: any SecretStore
    private let redactor: Redactor

    init(_ base: any SecretStore, _ redactor: Redactor) {
        self.base = base
        self.redactor = redactor
    }

    func secret(named name: SecretName) async throws -> Secret? {
        try Caller.grantHere.check(.credential(name))
        let secret = try await base.secret(named: name)
        if let secret { redactor.learn(secret, named: name.text) }
        return secret
    }

    func store(_ secret: Secret, named name: SecretName) async throws {
        redactor.learn(secret, named: name.text)
        try await base.store(secret, named: name)
    }

    func remove(named name: SecretName) async throws {
        try await base.remove(named: name)
    }

    func names() async throws -> [SecretName] {
        try await base.names()
    }

    func isReady() async -> Bool { await base.isReady() }
}

/// The desktop keyring, connected when the first secret is needed.
final class DesktopSecrets: KeptSecrets {
    private let environment: [String: String]
    private let found = Mutex<SecretServiceStore?>(nil)

    init(environment: [String: String]) {
        self.environment = environment
    }

    var source: SecretSource { .desktop }

    private func store() async throws -> SecretServiceStore {
        if let store = found.withLock({ $0 }) { return store }
        guard let store = try await SecretServiceStore.connect(environment: environment) else {
            throw DesktopMissing()
        }
        found.withLock { $0 = store }
        return store
    }

    func secret(named name: SecretName) async throws -> Secret? { try await store().secret(named: name) }
    func store(_ secret: Secret, named name: SecretName) async throws { try await store().store(secret, named: name) }
    func remove(named name: SecretName) async throws { try await store().remove(named: name) }
    func names() async throws -> [SecretName] { try await store().names() }
    func entries() async throws -> [SecretEntry] { try await store().entries() }
}

/// The settings select the desktop keyring, but it is not available.
struct DesktopMissing: Failure {
    let code = "auth.desktop-missing"
    let exit = ExitCode.denied
    let message =
        "the desktop keyring is not available: it needs a desktop session with D-Bus and the library libsecret-1; log "
        + "in to a desktop session, or use the encrypted file: martlet config set auth.vault file"
}
