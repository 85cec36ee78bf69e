import Capabilities
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Test platform: state and faults", .timeLimit(.minutes(5)))
struct KamiwazaServerTests {
    @Test(
        "A path outside the API gives a page, and an unknown path inside it gives 404",
        arguments: ["/", "/models", "/auth/health", "/apis"])
    func webInterface(_ path: String) async throws {
        try await Lab.platform { server, api in
            let page = try await api.client.send(HTTPRequest(.get, HTTPURL(server.origin + path)))
            #expect(page.status == .ok && page.headers["Content-Type"]?.hasPrefix("text/html") == true)
            let nothing = try await api.client.send(HTTPRequest(.get, HTTPURL("\(server.api)/nothing\(path)")))
            #expect(nothing.status == .notFound && nothing.text == #"{"detail":"Not Found"}"#)
            #expect(server.requests.map(\.path) == [path, "/api/nothing\(path)"])
        }
    }

    @Test("Deployments are listed for a signed-in caller and refused for others")
    func deployments() async throws {
        var setup = KamiwazaSetup()
        setup.deployments = [["id": "d1", "m_id": "m1", "status": "DEPLOYED"]]
        try await Lab.session(setup) { server, api, tokens in
            var request = HTTPRequest(.get, try HTTPURL("\(server.api)/serving/deployments"))
            #expect(try await api.client.send(request).status == .unauthorized)
            request.headers["Cookie"] = "a=b; access_token=\(tokens.accessToken.plain)"
            let answer = try await api.client.send(request)
            #expect(try JSON(parsing: answer.body)[0]?["id"] == "d1")
        }
    }

    @Test("Ten concurrent requests are held, and continue together when they are released")
    func held() async throws {
        try await Lab.session { server, api, _ in
            server.fail("/api/auth/users/me", with: .held)
            let names = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<10 { group.addTask { try await api.whoAmI().name } }
                try await server.until { $0.count { $0.path == "/api/auth/users/me" } == 10 }
                server.heal("/api/auth/users/me")
                return try await group.reduce(into: [String]()) { $0.append($1) }
            }
            #expect(names == Array(repeating: "ada", count: 10))
        }
    }

    @Test("An administrator can end sessions, revoke tokens and lock accounts while the platform runs")
    func administration() async throws {
        try await Lab.session { server, api, tokens in
            let made = try await api.makePersonalToken(name: "x")
            var personal = api
            personal.credential = .bearer(made.token)
            server.endSessions()
            let ended = await Lab.failure { _ = try await api.whoAmI() }
            #expect(ended?.kind == .signInAgain)
            let refresh = await Lab.failure { _ = try await api.refresh(try #require(tokens.refreshToken)) }
            #expect(refresh?.kind == .sessionEnded)
            #expect(try await personal.whoAmI().name == "ada")
            server.revokePersonalTokens()
            let revoked = await Lab.failure { [personal] in _ = try await personal.whoAmI() }
            #expect(revoked?.kind == .signInAgain)
            server.changeAccount("ada") { $0.isLocked = true }
            let locked = await Lab.failure { _ = try await api.signIn(user: "ada", password: Lab.password) }
            #expect(locked?.kind == .locked)
        }
    }
}
