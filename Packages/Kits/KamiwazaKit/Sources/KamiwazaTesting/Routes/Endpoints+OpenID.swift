import Capabilities
import HTTPCore
import HTTPServer
import JSON

extension Endpoints {
    static let realm = "/realms/kamiwaza"
    static let pages = "/protocol/openid-connect"

    /// What Keycloak has behind a platform: the page where people sign in, tokens for codes and devices.
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
            // Nobody is sent to an address that is not known, not even with an error.
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

    /// The OpenID configuration, also where RFC 8414 has it, or a 404 at those places.
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
    /// Tokens for whatever the form brings.
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
