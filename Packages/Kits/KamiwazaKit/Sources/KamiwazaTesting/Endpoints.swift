import Capabilities
import HTTPCore
import HTTPServer
import JSON

/// The routes of the test platform. Each can be made to fail.
struct Endpoints: Sendable {
    let board: Board
    /// A copy of the setup in `board`, because `board` must not be read during a change.
    let setup: KamiwazaSetup

    init(_ board: Board) {
        self.board = board
        setup = board.platform.setup
    }

    var apiPath: String { setup.apiPath }

    var all: [Route] { session + personalTokens + browser + openID + serving + tools + webInterface }

    /// A route of the API. `path` is relative to the API's base path.
    func api<each Value: Sendable>(
        _ method: HTTPMethod, _ path: String, _ id: String, _ summary: String,
        _ input: repeat RouteInput<each Value>,
        handler: @escaping @Sendable (ServerRequest, repeat each Value) async throws -> HTTPAnswer
    ) -> Route {
        place(method, apiPath + path, id, summary, repeat each input, handler: handler)
    }

    /// A route with a full path.
    func place<each Value: Sendable>(
        _ method: HTTPMethod, _ path: String, _ id: String, _ summary: String,
        _ input: repeat RouteInput<each Value>,
        handler: @escaping @Sendable (ServerRequest, repeat each Value) async throws -> HTTPAnswer
    ) -> Route {
        Route(method, path, id, summary, repeat each input) {
            (request: ServerRequest, value: repeat each Value) async throws -> HTTPAnswer in
            if let answer = try await faulty(request.head.path) { return answer }
            return try await handler(request, repeat each value)
        }
    }

    private func faulty(_ path: String) async throws -> HTTPAnswer? {
        let fault = board.change { platform -> Fault? in
            guard let (fault, times) = platform.faults[path] else { return nil }
            if case .answers = fault { platform.faults[path] = times > 1 ? (fault, times - 1) : nil }
            return fault
        }
        switch fault {
        case nil: return nil
        case .answers(let answer): return answer
        case .held:
            try await board.until { $0.faults[path] == nil }
            return nil
        }
    }
}

extension ServerRequest {
    /// The server's origin, with the host name that the client used.
    var origin: String { "\(isSecure ? "https" : "http")://\(head.host ?? "127.0.0.1")" }
}

extension Endpoints {
    /// Browser sign-in: to the realm's page, back to the platform, and then to the program that started it.
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

/// The address that a browser is redirected to.
enum RedirectURI {
    /// Whether it belongs to a program on the user's own machine, at any port (RFC 8252).
    static func isLoopback(_ text: String) -> Bool {
        ["http://127.0.0.1:", "http://[::1]:", "http://localhost:"].contains { text.hasPrefix($0) }
    }

    static func adding(_ query: String, to text: String) -> String {
        text + (text.contains("?") ? "&" : "?") + query
    }
}

extension Endpoints {
    static let realm = "/realms/kamiwaza"
    static let pages = "/protocol/openid-connect"

    /// The parts of Keycloak: the sign-in page, and the endpoints for codes and devices.
    var openID: [Route] {
        [authorization, token, deviceAuthorization, devicePage] + configurations
    }

    private var authorization: Route {
        place(
            .get, Self.realm + Self.pages + "/auth", "authorize", "The sign-in page",
            .query("client_id", "Who asks", as: String?.self), .query("redirect_uri", "Where to go", as: String?.self),
            .query("response_type", "code", as: String?.self), .query("state", "Comes back", as: String?.self),
            .query("nonce", "Comes back in the id_token", as: String?.self),
            .query("scope", "What is asked for", as: String?.self),
            .query("code_challenge", "PKCE", as: String?.self),
            .query("code_challenge_method", "PKCE", as: String?.self)
        ) { request, client, redirectURI, type, state, nonce, scope, challenge, method in
            // Never redirect to an unknown address, not even with an error.
            let isOwn = redirectURI == "\(request.origin)\(apiPath)/auth/callback"
            guard client == Platform.clientID, let redirectURI, isOwn || RedirectURI.isLoopback(redirectURI) else {
                return WebInterface.answer("Invalid parameter: redirect_uri", status: .badRequest)
            }
            func back(_ pairs: [(String, String?)]) -> HTTPAnswer {
                let query = Query.text(pairs + [("state", state), ("iss", issuer(request))])
                return .redirect(to: RedirectURI.adding(query, to: redirectURI), status: HTTPStatus(302))
            }
            guard type == "code" else { return back([("error", "unsupported_response_type")]) }
            guard isOwn || challenge != nil && method == "S256" else {
                return back([("error", "invalid_request"), ("error_description", "PKCE with S256 is required")])
            }
            guard let account = setup.browserUser else {
                return back([("error", "access_denied"), ("error_description", "The person declined")])
            }
            let code = board.change { platform in
                platform.makeCode(
                    for: account, redirectURI: redirectURI, challenge: challenge, nonce: nonce,
                    scope: isOwn ? nil : scope,
                    issuer: issuer(request))
            }
            return back([("code", code), ("session_state", SignedToken.word())])
        }
    }

    private var token: Route {
        place(
            .post, Self.realm + Self.pages + "/token", "token", "The token endpoint", .upload("The form")
        ) { _, body in
            let form = try await FormBody(body)
            do {
                return try board.change { (platform) throws(Platform.GrantError) in .json(try platform.grant(form)) }
            } catch let refusal as Platform.GrantError {
                return refusal.answer
            }
        }
    }

    private var deviceAuthorization: Route {
        place(
            .post, Self.realm + Self.pages + "/auth/device", "device", "The device authorization endpoint",
            .upload("The form")
        ) { request, body in
            let form = try await FormBody(body)
            guard form["client_id"] == Platform.clientID else {
                return Platform.GrantError(error: "invalid_client").answer
            }
            return .json(
                board.change { platform in
                    platform.addDevice(
                        issuer: issuer(request), scope: form["scope"],
                        verification: "\(request.origin)\(Self.realm)/device")
                })
        }
    }

    private var devicePage: Route {
        place(.get, Self.realm + "/device", "devicePage", "The page for a device's code") { _ in
            WebInterface.answer("Enter the code that your device shows")
        }
    }

    /// The OpenID configuration, also at the path of RFC 8414. Both return 404 if none is published.
    private var configurations: [Route] {
        let path = setup.openID == .api ? apiPath : Self.realm
        let places = [
            "\(path)/.well-known/openid-configuration", "/.well-known/oauth-authorization-server\(path)",
        ]
        return places.enumerated().map { index, address in
            place(.get, address, "configuration\(index)", "The OpenID configuration") { request in
                guard setup.openID != .nowhere else {
                    throw Platform.refusal(.notFound, "Not Found")
                }
                return .json(configuration(request))
            }
        }
    }

    private func issuer(_ request: ServerRequest) -> String {
        request.origin + (setup.openID == .api ? apiPath : Self.realm)
    }

    private func configuration(_ request: ServerRequest) -> JSON {
        let base = "\(request.origin)\(Self.realm)\(Self.pages)"
        return [
            "issuer": .string(issuer(request)), "authorization_endpoint": .string("\(base)/auth"),
            "token_endpoint": .string("\(base)/token"), "device_authorization_endpoint": .string("\(base)/auth/device"),
            "jwks_uri": .string("\(base)/certs"), "response_types_supported": ["code"],
            "grant_types_supported": [
                "authorization_code", "refresh_token", "password", "urn:ietf:params:oauth:grant-type:device_code",
            ],
            "code_challenge_methods_supported": ["S256"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"], "scopes_supported": ["openid", "offline_access"],
            "authorization_response_iss_parameter_supported": true,
        ]
    }
}

extension Platform {
    /// The tokens for the grant in the form.
    fileprivate mutating func grant(_ form: FormBody) throws(GrantError) -> JSON {
        guard form["client_id"] == Self.clientID else { throw GrantError(error: "invalid_client") }
        switch form["grant_type"] {
        case "authorization_code":
            return try redeem(form["code"], redirectURI: form["redirect_uri"], verifier: form["code_verifier"])
        case "refresh_token": return try refreshGrant(form["refresh_token"])
        case "urn:ietf:params:oauth:grant-type:device_code": return try pollDevice(form["device_code"])
        default: throw GrantError(error: "unsupported_grant_type")
        }
    }
}

extension Endpoints {
    var personalTokens: [Route] {
        [
            api(.get, "/auth/pats", "listPats", "List my PATs") { request in
                let platform = board.platform
                return .json(platform.personalTokens(of: try platform.accountName(request.headers)))
            },
            // The OpenAPI description allows the same four values in the query and in the body.
            api(
                .post, "/auth/pats", "createPat", "Create a PAT for the current user",
                .query("name", "Its name", as: String?.self), .query("ttl_seconds", "Its lifetime", as: Int?.self),
                .query("scope", "Its scope", as: String?.self), .query("aud", "Its audience", as: String?.self),
                .body(JSON?.self, "The same as a body")
            ) { request, name, lifetime, scope, audience, body in
                let owner = try board.platform.accountName(request.headers)
                if setup.takesTokenRequestsAsBodyOnly, body?["name"] == nil {
                    throw RequestProblem(
                        .unprocessable, code: "platform", "Field required",
                        inputs: [InputProblem(place: "body", name: "name", message: "Field required")])
                }
                return board.change { platform in
                    .json(
                        platform.makePersonal(
                            for: owner, name: name ?? body?["name"]?.string,
                            lifetime: lifetime ?? body?["ttl_seconds"]?.int,
                            scope: scope ?? body?["scope"]?.string, audience: audience ?? body?["aud"]?.string))
                }
            },
            api(.delete, "/auth/pats/{jti}", "revokePat", "Revoke my PAT", .path("jti", "Its id")) { request, jti in
                try board.change { (platform) throws(RequestProblem) in
                    try platform.revokePersonal(jti, of: try platform.accountName(request.headers))
                }
                return .json(["revoked": true, "jti": .string(jti)] as JSON)
            },
        ]
    }
}

extension Endpoints {
    var serving: [Route] {
        [
            api(.get, "/serving/deployments", "listDeployments", "List deployments") { request in
                let platform = board.platform
                _ = try platform.accountName(request.headers)
                return .json(JSON.array(setup.deployments))
            }
        ]
    }
}

extension Endpoints {
    /// Health, password sign-in, refresh, the current user and sign-out.
    var session: [Route] {
        [
            api(.get, "/auth/health", "health", "Health check endpoint") { _ in
                .json(["status": "healthy"] as JSON)
            },
            api(.post, "/auth/token", "login", "Password login", .upload("The form")) { _, body in
                let form = try await FormBody(body)
                guard form["grant_type"] ?? "password" == "password", let user = form["username"],
                    let password = form["password"]
                else { throw missing(form) }
                let scopes = (form["scope"] ?? "openid email profile offline_access").split(separator: " ")
                return try board.change { (platform) throws(RequestProblem) in
                    HTTPAnswer.json(try platform.signIn(user, password, scopes: scopes.map(String.init)))
                }
            },
            api(
                .post, "/auth/refresh", "refresh", "Refresh access token using refresh token",
                .query("refresh_token", "The refresh token", as: String?.self)
            ) { _, token in
                try board.change { (platform) throws(RequestProblem) in .json(try platform.refresh(token)) }
            },
            api(.get, "/auth/users/me", "me", "Get current user") { request in .json(try user(request.headers)) },
            api(.get, "/auth/validate", "validate", "Identity of a request as headers") { request in
                let user = try user(request.headers)
                return HTTPAnswer.json(["status": "ok"] as JSON)
                    .header("x-user-id", user["sub"]?.string ?? "").header(
                        "x-user-name", user["username"]?.string ?? ""
                    )
                    .header("x-user-email", user["email"]?.string ?? "")
                    .header("x-user-roles", user["roles"]?.array?.compactMap(\.string).joined(separator: ",") ?? "")
            },
            api(.post, "/auth/logout", "logout", "Logout endpoint") { request in
                let origin = request.origin
                return try board.change { (platform) throws(RequestProblem) in
                    if case .session(_, let session) = try platform.caller(request.headers) {
                        platform.endedSessions.insert(session)
                    }
                    return HTTPAnswer.json(
                        [
                            "message": "Logged out", "logout_time": .string(platform.now.iso8601),
                            "session_termination_requested": true,
                            "front_channel_logout_url": .string("\(origin)\(apiPath)/auth/logout/front-channel"),
                            "post_logout_redirect_uri": .null,
                        ] as JSON)
                }
            },
            api(.get, "/auth/idp/public/providers", "publicProviders", "Public listing of enabled IdPs") { _ in
                let providers = setup.providers.map { provider -> JSON in
                    [
                        "alias": .string(provider.alias), "providerId": .string(provider.alias),
                        "displayName": .string(provider.name), "enabled": .bool(provider.isEnabled),
                    ]
                }
                return .json(["providers": .array(providers), "idp_management_enabled": true] as JSON)
            },
        ]
    }

    private func user(_ headers: HTTPHeaders) throws -> JSON {
        let platform = board.platform
        guard let account = platform.account(try platform.accountName(headers)) else {
            throw Platform.refusal(.unauthorized, "Invalid token")
        }
        return [
            "username": .string(account.name), "sub": .string("id-of-\(account.name)"),
            "email": account.email.map { .string($0) } ?? .null,
            "groups": .array(account.groups.map { .string($0) }), "roles": .array(account.roles.map { .string($0) }),
        ]
    }

    private func missing(_ form: FormBody) -> RequestProblem {
        let names = ["username", "password"].filter { form[$0] == nil }
        return RequestProblem(
            .unprocessable, code: "platform", "Field required",
            inputs: names.map { InputProblem(place: "body", name: $0, message: "Field required") })
    }
}

extension Endpoints {
    /// All other paths: 404 below the API, a web page elsewhere.
    var webInterface: [Route] {
        [HTTPMethod.get, .post, .put, .patch, .delete].map { method in
            place(
                method, "/{path...}", "other\(method)", "Everything else", .path("path", "The path", as: String.self)
            ) { request, path in
                guard !"/\(path)/".hasPrefix("\(apiPath)/"), method == .get else {
                    throw Platform.refusal(.notFound, "Not Found")
                }
                return WebInterface.answer("Dashboard")
            }
        }
    }
}

/// The web pages of a platform. Tests need only that they are HTML.
enum WebInterface {
    static let page = "<!DOCTYPE html><html><head><title>Kamiwaza</title></head><body>Dashboard</body></html>"

    static func answer(_ words: String, status: HTTPStatus = .ok) -> HTTPAnswer {
        let page = "<!DOCTYPE html><html><head><title>Kamiwaza</title></head><body>\(words)</body></html>"
        return .bytes(Array(page.utf8), type: "text/html; charset=utf-8", status: status)
    }
}
