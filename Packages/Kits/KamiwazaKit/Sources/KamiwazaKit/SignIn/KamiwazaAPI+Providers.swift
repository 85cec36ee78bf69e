public import HTTPClient
public import HTTPCore

extension KamiwazaAPI {
    /// The identity providers that people may sign in with. Those that are switched off are left out.
    public nonisolated(nonsending) func providers() async throws -> [SignInProvider] {
        var call = KamiwazaCall(.get, "/auth/idp/public/providers")
        call.isSigned = false
        return try await answer(to: call).list("providers").compactMap(SignInProvider.init)
    }

    /// The page at which a browser signs in. `state` comes back to the redirect, where the server knows of such a thing.
    public func loginURL(
        provider: String? = nil, redirectURI: String? = nil, state: String? = nil
    ) throws(HTTPError) -> HTTPURL {
        var query = WebForm()
        query.add("redirect_uri", redirectURI)
        query.add("provider", provider)
        query.add("state", state)
        return try url("/auth/login", query)
    }

    /// The OpenID issuer behind the sign-in page, or nil when the page does not show it.
    ///
    /// A platform does not publish an OpenID configuration of its own. Its sign-in page leads to Keycloak, whose
    /// configuration is found below the realm that the address of that page has in it.
    public nonisolated(nonsending) func openIDIssuer() async throws -> HTTPURL? {
        var request = try request(for: KamiwazaCall(.get, "/auth/login"))
        request.headers["Accept"] = "text/html, application/json"
        let response: HTTPResponse
        do {
            response = try await client.send(request)
        } catch let error as HTTPError {
            throw KamiwazaError.onTheWay(error)
        }
        guard response.status.isRedirect, let location = response.headers["Location"] else { return nil }
        return issuer(ofPage: location, from: request.url)
    }

    private func issuer(ofPage location: String, from url: HTTPURL) -> HTTPURL? {
        let ending = "/protocol/openid-connect/auth"
        do throws(HTTPError) {
            let page = try url.resolving(location)
            // Nobody on the way may choose where people type their passwords.
            guard page.path.hasSuffix(ending), page.scheme == .https || base.scheme == .http else { return nil }
            return try page.resolving(String(page.path.dropLast(ending.count)))
        } catch {
            // A page whose address cannot be read shows no issuer.
            return nil
        }
    }
}
