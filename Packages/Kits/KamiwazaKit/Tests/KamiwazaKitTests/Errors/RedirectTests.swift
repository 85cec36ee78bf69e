import Capabilities
import HTTPClient
import HTTPCore
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Redirects", .timeLimit(.minutes(5)))
struct RedirectTests {
    @Test(
        "A redirect to another server fails, and the other server sees no request",
        arguments: [301, 302, 303, 307, 308])
    func elsewhere(_ status: Int) async throws {
        try await KamiwazaServer.run { other in
            try await Lab.session { server, api, tokens in
                let token = try #require(tokens.refreshToken)
                for path in ["token", "refresh", "users/me", "pats", "logout", "idp/public/providers"] {
                    server.fail(
                        "/api/auth/\(path)",
                        with: .redirect(to: "\(other.api)/auth/\(path)", status: HTTPStatus(status)))
                }
                let calls: [() async throws -> Void] = [
                    { _ = try await api.signIn(user: "ada", password: Lab.password) },
                    { _ = try await api.refresh(token) },
                    { _ = try await api.whoAmI() },
                    { _ = try await api.makePersonalToken(name: "x") },
                    { _ = try await api.logOut() },
                    { _ = try await api.providers() },
                ]
                for call in calls {
                    let error = await Lab.failure(call)
                    #expect(error?.kind == .redirected && error?.exit == .failed)
                    #expect(error?.message.contains(other.origin) == true, "\(error?.message ?? "")")
                }
                #expect(other.requests.isEmpty)
            }
        }
    }

    @Test("A redirect within the server is followed with the credential")
    func within() async throws {
        try await Lab.session { server, api, tokens in
            server.fail("/api/auth/pats", with: .redirect(to: "/api/auth/users/me"), times: 1)
            let error = await Lab.failure { _ = try await api.personalTokens() }
            // The redirected request was signed; only its response is not a list.
            #expect(error?.kind == .badAnswer && server.requests.last?.credential == .accessToken)
            server.fail("/api/auth/token", with: .redirect(to: "/api/auth/token", status: HTTPStatus(308)), times: 1)
            let signIn = try await api.signIn(user: "ada", password: Lab.password)
            #expect(signIn.refreshToken != nil)
        }
    }

    @Test("A redirect that changes a POST into a GET is not followed")
    func changing() async throws {
        try await Lab.platform { server, api in
            server.fail("/api/auth/token", with: .redirect(to: "/api/auth/health", status: HTTPStatus(303)))
            let error = await Lab.failure { _ = try await api.signIn(user: "ada", password: Lab.password) }
            #expect(error?.kind == .redirected && server.requests.count == 1)
        }
    }

    @Test("A redirect loop ends with an error")
    func circle() async throws {
        try await Lab.session { server, api, _ in
            server.fail("/api/auth/users/me", with: .redirect(to: "/api/auth/users/me"))
            let error = await Lab.failure { _ = try await api.whoAmI() }
            #expect(error?.kind == .redirected && error?.message.contains("in a loop") == true)
            #expect(server.count(.get, "/api/auth/users/me") == 4)
        }
    }

    @Test(
        "A redirect to an invalid address is an error",
        arguments: ["ftp://127.0.0.1/", "http://", "http://u:pw@127.0.0.1/"])
    func nowhere(_ place: String) async throws {
        try await Lab.session { server, api, _ in
            server.fail("/api/auth/users/me", with: .redirect(to: place))
            let error = await Lab.failure { _ = try await api.whoAmI() }
            #expect(error?.kind == .redirected && error?.everything.contains("pw@") == false)
        }
    }
}
