public import Capabilities
import HTTPClient
import HTTPCore
public import JSON

extension KamiwazaAPI {
    /// What the server says about itself; fails unless it is 200 and a JSON object.
    @discardableResult
    public nonisolated(nonsending) func health() async throws -> JSONObject {
        var call = KamiwazaCall(.get, "/auth/health")
        call.isSigned = false
        let response = try await answer(to: call)
        guard response.status == .ok, let object = try response.json().object else {
            throw KamiwazaError(
                .badAnswer, "\(base.server) says nothing about its health; check the address of the server",
                status: response.status.code)
        }
        return object
    }

    /// Signs in with a user name and a password.
    ///
    /// A refresh token is asked for. A server that refuses to give one is asked again without.
    public nonisolated(nonsending) func signIn(user: String, password: Secret) async throws -> KamiwazaTokens {
        let call = signInCall(user, password, scope: "\(Self.scope) offline_access")
        let response = try await exchange(call)
        if response.status.isSuccess { return try KamiwazaTokens(response) }
        if Self.refusesOfflineAccess(response) {
            return try KamiwazaTokens(try await answer(to: signInCall(user, password, scope: Self.scope)))
        }
        throw KamiwazaError(response, to: call, redactor: redactor(for: call))
    }

    private static let scope = "openid email profile"

    /// Whether a refusal is about the refresh token and not about the person: a wrong password that is sent twice would
    /// lock the account sooner.
    ///
    /// Keycloak says `invalid_scope`, or `not_allowed` with "Offline tokens not allowed for the user or client". The
    /// platform passes that on in a form that is not promised, so that the whole answer is searched.
    private static func refusesOfflineAccess(_ response: HTTPResponse) -> Bool {
        guard response.status.code != 423, response.status.code != 429 else { return false }
        let text = String(decoding: response.body.prefix(4096), as: UTF8.self).lowercased()
        if text.contains("not_allowed") || text.contains("offline") { return true }
        return response.status.code < 500 && text.contains("scope")
    }

    private func signInCall(_ user: String, _ password: Secret, scope: String) -> KamiwazaCall {
        var form = WebForm()
        form.add("grant_type", "password")
        form.add("username", user)
        form.add("password", password)
        form.add("scope", scope)
        form.add("client_id", "kamiwaza-platform")
        var call = KamiwazaCall(.post, "/auth/token")
        call.body = .form(form)
        (call.purpose, call.isSigned, call.secrets) = (.signIn, false, [password])
        return call
    }

    /// Exchanges a refresh token for new tokens; `.sessionEnded` means that only signing in again helps.
    ///
    /// The old refresh token must not be used again. A server that sends no new one goes on with the old.
    public nonisolated(nonsending) func refresh(_ refreshToken: Secret) async throws -> KamiwazaTokens {
        var call = KamiwazaCall(.post, "/auth/refresh")
        // The platform takes it from the address only, which is why no address of ours is ever shown.
        call.query.add("refresh_token", refreshToken)
        (call.purpose, call.isSigned, call.secrets) = (.refresh, false, [refreshToken])
        return try KamiwazaTokens(try await answer(to: call))
    }

    /// Ends the session. A personal access token is to be revoked before, while there is still a credential for that.
    @discardableResult
    public nonisolated(nonsending) func logOut() async throws -> KamiwazaLogout {
        var call = KamiwazaCall(.post, "/auth/logout")
        call.body = .json([:])
        let response = try await answer(to: call)
        return response.body.isEmpty ? KamiwazaLogout() : KamiwazaLogout(try response.members())
    }

    /// Who is signed in.
    public nonisolated(nonsending) func whoAmI() async throws -> KamiwazaUser {
        try KamiwazaUser(try await answer(to: KamiwazaCall(.get, "/auth/users/me")).members())
    }
}
