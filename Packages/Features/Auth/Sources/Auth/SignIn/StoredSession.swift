import AuthSignIn
import AuthVault
import Capabilities
import KamiwazaKit
import Registry

/// A profile's session in the secret store. The platform renews it.
struct StoredSession: SessionSource {
    let profile: ServerProfile
    let services: AuthServices

    func load() async throws -> Session? {
        guard let text = try await services.secrets.secret(named: profile.sessionName) else { return nil }
        let session = try Session(encoded: text)
        learn(session)
        // A session for the profile's former server must not be sent to the current one.
        return session.origin == profile.origin ? session : nil
    }

    func mark() throws -> SessionMark? {
        try services.vaultMark()
    }

    func store(_ session: Session) async throws {
        learn(session)
        try await services.secrets.store(session.encoded, named: profile.sessionName)
    }

    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await services.vault.withLock(named: profile.sessionName, body)
    }

    func renew(_ session: Session) async throws -> Session {
        guard let refreshToken = session.refreshToken else {
            throw SignInError.refused("the session cannot be renewed; sign in again")
        }
        do {
            let tokens = try await services.api(of: profile, signed: false).refresh(refreshToken)
            return session.renewed(by: TokenAnswer(tokens, now: services.now()))
        } catch let error as KamiwazaError where error.kind == .sessionEnded {
            throw SignInError.refused(error.message, cause: error)
        }
    }

    private func learn(_ session: Session) {
        services.redactor.learn(session.accessToken)
        if let token = session.refreshToken { services.redactor.learn(token) }
    }
}

extension TokenAnswer {
    init(_ tokens: KamiwazaTokens, now: Timestamp) {
        self.init(
            accessToken: tokens.accessToken, refreshToken: tokens.refreshToken,
            expiresIn: tokens.lifetime.map { Double($0.components.seconds) }, received: now, idToken: tokens.idToken)
    }
}
