import AuthSignIn
import AuthVault
import Capabilities
import Cryptography
import HTTPClient
import Registry

/// The credentials for resources in the secret store, each under a name that is made of its address.
struct VaultResources: ResourceStore {
    let services: AuthServices

    private func name(_ resource: ResourceAddress) -> SecretName {
        let digest = Hexadecimal.encode(Array(Digest.sha256(Array(resource.text.utf8)).prefix(16)))
        return SecretName("resource.\(digest).session")
    }

    func credential(for resource: ResourceAddress) async throws -> Secret? {
        try await services.secrets.secret(named: name(resource))
    }

    func store(_ credential: Secret, for resource: ResourceAddress) async throws {
        try await services.secrets.store(credential, named: name(resource))
    }

    func remove(for resource: ResourceAddress) async throws {
        try await services.secrets.remove(named: name(resource))
    }

    func learn(_ token: Secret) { services.redactor.learn(token) }

    func mark() throws -> SessionMark? { try services.vaultMark() }

    func exclusively<Result: Sendable>(
        for resource: ResourceAddress, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        try await services.vault.withLock(named: name(resource), body)
    }
}

extension ResourceSessions.Asker {
    /// Asks whoever has caused the action that runs now.
    static func current(_ services: AuthServices) -> ResourceSessions.Asker {
        ResourceSessions.Asker { resource in
            guard let context = ActionContext.current, context.interaction.canAsk else {
                throw SignInError.needsPerson(at: resource)
            }
            let id = "auth.resource.sign-in"
            let shown = PlainText.escape(resource.text, limit: 200)
            let question = services.browser.isAvailable ? "Open your browser for that?" : "Do you want to?"
            guard try await context.interaction.confirm(id, "\(shown) wants you to sign in. \(question)") else {
                throw InteractionError.declined(id: id)
            }
        } hasBrowser: {
            services.browser.isAvailable
        } show: { url in
            try await ActionContext.current?.showSignIn(at: url, services.browser)
        } showCode: { code in
            ActionContext.current?.showSignIn(with: code)
        } notice: { text in
            ActionContext.current?.notice(text)
        }
    }
}

/// Signs requests to resources. It opens nothing before the first request.
final class ResourceAuthenticator: ResourceSignIn {
    private let services: AuthServices

    init(services: AuthServices) {
        self.services = services
    }

    func sign(_ request: inout RequestHead, for resource: ResourceAddress) async throws {
        try await services.resources.sign(&request, for: resource)
    }

    func answer(
        _ challenge: ResourceChallenge, to refused: RequestHead, for resource: ResourceAddress
    ) async throws -> Bool {
        try await services.resources.answer(challenge, to: refused, for: resource)
    }

    func forget(_ resource: ResourceAddress) async throws -> Bool { try await services.resources.forget(resource) }
}
