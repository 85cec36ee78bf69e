import Capabilities
import HTTPCore
import HTTPServer
import JSON

extension Endpoints {
    /// Signing in by browser: to the realm's page, back to the platform, and on to the program that began it.
    var browser: [Route] {
        [
            api(
                .get, "/auth/login", "browserLogin", "Initiate browser-based login by redirecting to Keycloak",
                .query("redirect_uri", "Where to go in the end", as: String?.self),
                .query("provider", "The identity provider", as: String?.self),
                .query("state", "Comes back with the tokens", as: String?.self)
            ) { request, redirectURI, provider, state in
                let target = redirectURI ?? "/"
                guard target.hasPrefix("/") || RedirectURI.isLoopback(target) || target.hasPrefix(request.origin + "/")
                else { throw Platform.refusal(.badRequest, "redirect_uri is not allowed") }
                let key = SignedToken.word()
                board.change { $0.logins[key] = Platform.BrowserLogin(redirectURI: target, state: state) }
                let query = Query.text([
                    ("response_type", "code"), ("client_id", Platform.clientID),
                    ("redirect_uri", "\(request.origin)\(apiPath)/auth/callback"), ("state", key),
                    ("scope", "openid email profile offline_access"), ("kc_idp_hint", provider),
                ])
                return .redirect(
                    to: "\(request.origin)\(Self.realm)\(Self.pages)/auth?\(query)", status: HTTPStatus(302))
            },
            api(
                .get, "/auth/callback", "oidcCallback", "OIDC callback handler",
                .query("code", "The code", as: String?.self), .query("state", "The login", as: String?.self),
                .query("error", "Why not", as: String?.self)
            ) { request, code, state, error in
                guard let login = board.change({ $0.logins.removeValue(forKey: state ?? "") }) else {
                    throw Platform.refusal(.badRequest, "Unknown state")
                }
                if let error {
                    let query = Query.text([("error", error), ("state", login.state)])
                    return .redirect(to: RedirectURI.adding(query, to: login.redirectURI), status: HTTPStatus(302))
                }
                return try returning(login, with: tokens(code, at: "\(request.origin)\(apiPath)/auth/callback"))
            },
        ]
    }

    private func tokens(_ code: String?, at redirectURI: String) throws -> JSON {
        do {
            return try board.change { (platform) throws(Platform.GrantError) in
                try platform.redeem(code, redirectURI: redirectURI, verifier: nil)
            }
        } catch {
            throw Platform.refusal(.badGateway, "Token exchange failed")
        }
    }

    private func returning(_ login: Platform.BrowserLogin, with tokens: JSON) -> HTTPAnswer {
        let access = tokens["access_token"]?.string ?? ""
        let pairs = Query.text([
            ("access_token", access), ("refresh_token", tokens["refresh_token"]?.string),
            ("expires_in", tokens["expires_in"]?.int.map(String.init)), ("token_type", "bearer"),
            ("state", login.state),
        ])
        let place =
            switch setup.browserReturn {
            case .cookie: login.redirectURI
            case .query: RedirectURI.adding(pairs, to: login.redirectURI)
            case .fragment: "\(login.redirectURI)#\(pairs)"
            }
        return HTTPAnswer.redirect(to: place, status: HTTPStatus(302))
            .header("Set-Cookie", "access_token=\(access); Path=/; HttpOnly; SameSite=Lax")
    }
}

/// The address to which a browser is sent back.
enum RedirectURI {
    /// A program on the person's own machine, at whatever port it got (RFC 8252).
    static func isLoopback(_ text: String) -> Bool {
        ["http://127.0.0.1:", "http://[::1]:", "http://localhost:"].contains { text.hasPrefix($0) }
    }

    static func adding(_ query: String, to text: String) -> String {
        text + (text.contains("?") ? "&" : "?") + query
    }
}
