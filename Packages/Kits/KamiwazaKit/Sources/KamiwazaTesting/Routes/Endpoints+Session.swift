import Capabilities
import HTTPCore
import HTTPServer
import JSON

extension Endpoints {
    /// Health, signing in with a password, refreshing, who is it, signing out.
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
