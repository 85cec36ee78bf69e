import Capabilities

/// Tells the redactor every secret that passes, so that none of them comes back in an error or a trace. Code that runs for
/// no caller gets none.
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
}
