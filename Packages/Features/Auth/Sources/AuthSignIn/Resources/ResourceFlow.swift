import Capabilities
import HTTPClient

/// Signs in at a resource with a browser: finds out who signs its users in, becomes known there, and asks for tokens that
/// only this resource accepts (RFC 9728, RFC 8414, RFC 7591, RFC 8707).
struct ResourceFlow: Sendable {
    let identity: ResourceClient
    let client: HTTPClient
    let now: @Sendable () -> Timestamp
    /// How long the user may take to sign in.
    var limit: Duration = .seconds(300)
    var clock: any Clock<Duration> = ContinuousClock()

    /// Waits for the user to sign in at the address that is passed to `show`.
    ///
    /// - Parameter granted: the scopes that the user has granted before, which are asked for again with the new ones.
    func run(
        at url: HTTPURL, _ challenge: ResourceChallenge, granted: [String],
        _ show: @Sendable (HTTPURL) async throws -> Void
    ) async throws -> ResourceCredential {
        let description = try await ResourceDescription.find(for: url, challenge, using: client)
        let configuration = try await configuration(of: description, url)
        guard let authorization = configuration.authorizationEndpoint, let token = configuration.tokenEndpoint,
            configuration.offersAuthorizationCode
        else {
            throw SignInError(
                .badAnswer,
                "\(ServerText.line(configuration.issuer) ?? "the server") does not offer signing in with a browser and "
                    + "PKCE, so that codes would not be safe there")
        }
        let scopes = scopes(challenge, description, configuration, granted)
        let pkce = try PKCE()
        var receiving = LoopbackReceiver.Configuration(now: now)
        (receiving.limit, receiving.clock) = (limit, clock)
        (receiving.issuer, receiving.needsIssuer) = (configuration.issuer, configuration.promisesIssuer)
        return try await LoopbackReceiver.run(receiving) { receiver in
            let clientID = try await identity.id(
                at: configuration, redirectURI: receiver.redirectURI, scopes: scopes, using: client)
            let request = try AuthorizationRequest(
                at: authorization, clientID: clientID, redirectURI: receiver.redirectURI, scopes: scopes,
                state: receiver.state, nonce: nil, pkce: pkce, extra: [("resource", description.resource)])
            try await show(request.url)
            guard case .code(let code) = try await receiver.answer() else {
                throw SignInError(
                    .badAnswer, "unexpected response from the server: it sent tokens instead of a sign-in code")
            }
            var endpoint = TokenEndpoint(token, clientID: clientID, client: client, now: now)
            endpoint.resource = description.resource
            let answer = try await endpoint.exchange(code: code, redirectURI: receiver.redirectURI, pkce: pkce)
            return ResourceCredential(
                session: Session(answer, origin: Session.origin(of: url)), resource: description.resource,
                issuer: configuration.issuer, tokenEndpoint: token, clientID: clientID,
                scopes: answer.scope.map { $0.split(separator: " ").map(String.init) } ?? scopes)
        }
    }

    private func configuration(of description: ResourceDescription, _ url: HTTPURL) async throws -> OpenIDConfiguration
    {
        for issuer in description.issuers {
            if let found = try await OpenIDConfiguration.discover(at: issuer, using: client) { return found }
        }
        throw SignInError(
            .badAnswer, "\(url.server) wants you to sign in, but says nowhere how; check the address, or set its token")
    }

    /// What the challenge names, else what the resource does, together with what was granted before.
    private func scopes(
        _ challenge: ResourceChallenge, _ description: ResourceDescription, _ configuration: OpenIDConfiguration,
        _ granted: [String]
    ) -> [String] {
        var scopes = granted
        var wanted = challenge.scopes.isEmpty ? description.scopes : challenge.scopes
        // Without it some servers give no token to renew the session by.
        if configuration.scopes.contains(CodeFlow.offline) { wanted.append(CodeFlow.offline) }
        for scope in wanted where !scopes.contains(scope) { scopes.append(scope) }
        return scopes
    }
}
