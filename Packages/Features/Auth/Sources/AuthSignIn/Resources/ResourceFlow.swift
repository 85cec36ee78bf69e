import Capabilities
import HTTPClient

/// Signs in at a resource: finds out who signs its users in, becomes known there, and asks for tokens that only this
/// resource accepts (RFC 9728, RFC 8414, RFC 7591, RFC 8707).
///
/// A browser of this machine is used, or another device where there is none and the server has codes for it.
struct ResourceFlow: Sendable {
    let identity: ResourceClient
    let client: HTTPClient
    let now: @Sendable () -> Timestamp
    let ask: ResourceSessions.Asker
    /// How long the user may take to sign in with a browser.
    var limit: Duration = .seconds(300)
    var clock: any Clock<Duration> = ContinuousClock()

    /// What is known before the user is asked.
    private struct Plan: Sendable {
        let url: HTTPURL
        let description: ResourceDescription
        let configuration: OpenIDConfiguration
        let scopes: [String]
    }

    /// Waits for the user to sign in.
    ///
    /// - Parameter granted: the scopes that the user has granted before, which are asked for again with the new ones.
    func run(at url: HTTPURL, _ challenge: ResourceChallenge, granted: [String]) async throws -> ResourceCredential {
        let description = try await ResourceDescription.find(for: url, challenge, using: client)
        let configuration = try await configuration(of: description, url)
        let plan = Plan(
            url: url, description: description, configuration: configuration,
            scopes: scopes(challenge, description, configuration, granted))
        // The browser of another device cannot reach a port of this one.
        if configuration.offersDeviceCode, !configuration.offersAuthorizationCode || !ask.hasBrowser() {
            return try await onAnotherDevice(plan)
        }
        return try await inBrowser(plan)
    }

    // MARK: The two ways

    private func inBrowser(_ plan: Plan) async throws -> ResourceCredential {
        let configuration = plan.configuration
        guard let authorization = configuration.authorizationEndpoint, let token = configuration.tokenEndpoint,
            configuration.offersAuthorizationCode
        else {
            throw SignInError(
                .badAnswer,
                "\(ServerText.line(configuration.issuer) ?? "the server") does not offer signing in with a browser and "
                    + "PKCE, so that codes would not be safe there")
        }
        let pkce = try PKCE()
        var receiving = LoopbackReceiver.Configuration(now: now)
        (receiving.limit, receiving.clock) = (limit, clock)
        (receiving.issuer, receiving.needsIssuer) = (configuration.issuer, configuration.promisesIssuer)
        return try await LoopbackReceiver.run(receiving) { receiver in
            let credential = try await identity.credential(
                at: configuration, for: plan.url, .browser(redirectURI: receiver.redirectURI), scopes: plan.scopes,
                using: client)
            let request = try AuthorizationRequest(
                at: authorization, clientID: credential.id, redirectURI: receiver.redirectURI, scopes: plan.scopes,
                state: receiver.state, nonce: nil, pkce: pkce, extra: [("resource", plan.description.resource)])
            try await ask.show(request.url)
            guard case .code(let code) = try await receiver.answer() else {
                throw SignInError(
                    .badAnswer, "unexpected response from the server: it sent tokens instead of a sign-in code")
            }
            var endpoint = TokenEndpoint(token, as: credential, client: client, now: now)
            endpoint.resource = plan.description.resource
            let answer = try await endpoint.exchange(code: code, redirectURI: receiver.redirectURI, pkce: pkce)
            return result(answer, plan, credential, token)
        }
    }

    private func onAnotherDevice(_ plan: Plan) async throws -> ResourceCredential {
        let credential = try await identity.credential(
            at: plan.configuration, for: plan.url, .device, scopes: plan.scopes, using: client)
        guard let token = plan.configuration.tokenEndpoint,
            var flow = DeviceFlow(
                plan.configuration, as: credential, resource: plan.description.resource, client: client, now: now)
        else { preconditionFailure("a server that offers codes for devices has both endpoints") }
        let issuer = try HTTPURL(plan.configuration.issuer)
        (flow.scopes, flow.clock, flow.notice) = (plan.scopes, clock, ask.notice)
        let answer = try await flow.run { code in
            // The user enters a password there.
            guard OpenIDConfiguration.isSafe(code.verificationURI, for: issuer) else {
                throw SignInError(
                    .badAnswer,
                    "\(issuer.server) sends you to \(PlainText.escape(code.verificationURI.text, limit: 200)) to sign in, "
                        + "which is no safe address to sign in at; do not sign in there")
            }
            try await ask.showCode(code)
        }
        return result(answer, plan, credential, token)
    }

    private func result(
        _ answer: TokenAnswer, _ plan: Plan, _ credential: ClientCredential, _ token: HTTPURL
    ) -> ResourceCredential {
        ResourceCredential(
            session: Session(answer, origin: Session.origin(of: plan.url)), resource: plan.description.resource,
            issuer: plan.configuration.issuer, tokenEndpoint: token, clientID: credential.id,
            method: credential.proof?.method,
            scopes: answer.scope.map { $0.split(separator: " ").map(String.init) } ?? plan.scopes)
    }

    // MARK: What is asked for

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
