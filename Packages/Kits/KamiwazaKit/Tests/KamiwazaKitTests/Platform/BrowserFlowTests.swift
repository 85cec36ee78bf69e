import Capabilities
import CoreTesting
import Cryptography
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Test platform: browser sign-in", .timeLimit(.minutes(5)))
struct BrowserFlowTests {
    /// Follows redirects as a browser would, until it leaves the platform or gets a page.
    private func browse(_ start: HTTPURL, _ client: HTTPClient, at origin: String) async throws -> (String, [String]) {
        var (place, cookies) = (start.text, [String]())
        while place.hasPrefix(origin) {
            var request = HTTPRequest(.get, try HTTPURL(place))
            request.redirects = .none
            let answer = try await client.send(request)
            cookies += answer.headers.all("Set-Cookie")
            guard let next = answer.headers["Location"] else { break }
            place = next.hasPrefix("/") ? origin + next : next
        }
        return (place, cookies)
    }

    private let loopback = "http://127.0.0.1:9/done?s=1"

    @Test("Tokens stay in a browser cookie unless the platform is configured to pass them on")
    func returns() async throws {
        for style in [KamiwazaSetup.BrowserReturn.cookie, .query, .fragment] {
            var setup = KamiwazaSetup()
            setup.browserReturn = style
            try await Lab.platform(setup) { server, api in
                let start = try api.loginURL(provider: "google", redirectURI: loopback, state: "abc")
                let (place, cookies) = try await browse(start, api.client, at: server.origin)
                let token = try #require(cookies.first?.split(separator: ";").first?.dropFirst("access_token=".count))
                var api = api
                api.credential = .bearer(Secret(String(token)))
                #expect(try await api.whoAmI().name == "ada")
                switch style {
                case .cookie: #expect(place == loopback)
                case .query: #expect(place.hasPrefix("\(loopback)&access_token=\(token)&refresh_token="))
                case .fragment: #expect(place.hasPrefix("\(loopback)#access_token=\(token)&refresh_token="))
                }
                #expect(style == .cookie || place.hasSuffix("&token_type=bearer&state=abc"))
            }
        }
    }

    @Test("An unknown redirect address is refused, and a user who declines is sent back with the reason")
    func refusals() async throws {
        var setup = KamiwazaSetup()
        setup.browserUser = nil
        try await Lab.platform(setup) { server, api in
            let stranger = try api.loginURL(redirectURI: "https://evil.example/")
            let answer = try await api.client.send(HTTPRequest(.get, stranger))
            #expect(answer.status == .badRequest)
            let (place, cookies) = try await browse(
                try api.loginURL(redirectURI: loopback), api.client, at: server.origin)
            #expect(place == "\(loopback)&error=access_denied" && cookies.isEmpty)
        }
    }

    @Test("The OpenID configuration is at the configured place")
    func configuration() async throws {
        for (place, path) in [(KamiwazaSetup.OpenIDPlace.realm, "/realms/kamiwaza"), (.api, "/api"), (.nowhere, "")] {
            var setup = KamiwazaSetup()
            setup.openID = place
            try await Lab.platform(setup) { server, api in
                for address in [
                    "/realms/kamiwaza/.well-known/openid-configuration", "/api/.well-known/openid-configuration",
                    "/.well-known/oauth-authorization-server\(path)",
                ] {
                    let answer = try await api.client.send(HTTPRequest(.get, HTTPURL(server.origin + address)))
                    let isThere = place != .nowhere && address.contains(path)
                    let isJSON = answer.headers["Content-Type"] == "application/json" && answer.status == .ok
                    #expect(isJSON == isThere, "\(address)")
                    guard isThere else { continue }
                    #expect(try JSON(parsing: answer.body)["issuer"]?.string == server.origin + path)
                }
            }
        }
    }

    // MARK: Authorization code with PKCE

    private func realm(_ server: KamiwazaServer) -> String {
        "\(server.origin)/realms/kamiwaza/protocol/openid-connect"
    }

    private func authorize(_ server: KamiwazaServer, _ client: HTTPClient, _ more: String) async throws -> String {
        let query = "client_id=kamiwaza-platform&response_type=code&redirect_uri=http%3A%2F%2F127.0.0.1%3A9%2F&\(more)"
        let start = try HTTPURL("\(realm(server))/auth?\(query)")
        return try await browse(start, client, at: server.origin).0
    }

    private func value(_ name: String, in place: String) -> String {
        let pairs = place.split(separator: "?").last?.split(separator: "&") ?? []
        return pairs.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) } ?? ""
    }

    private func token(_ server: KamiwazaServer, _ client: HTTPClient, _ form: String) async throws -> (Int, JSON) {
        let request = HTTPRequest(
            .post, try HTTPURL("\(realm(server))/token"),
            headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: .text("client_id=kamiwaza-platform&\(form)"))
        let answer = try await client.send(request)
        return (answer.status.code, try JSON(parsing: answer.body))
    }

    @Test("A code can be used once, with its own verifier and redirect address")
    func pkce() async throws {
        try await Lab.platform { server, api in
            // The example in appendix B of RFC 7636.
            let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
            let challenge = "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
            func code() async throws -> String {
                let place = try await authorize(server, api.client, "state=s&nonce=n&\(challenge)")
                #expect(value("state", in: place) == "s" && !value("iss", in: place).isEmpty)
                return value("code", in: place)
            }
            let home = "redirect_uri=http%3A%2F%2F127.0.0.1%3A9%2F"
            let grant = "grant_type=authorization_code"
            let wrong = [
                "\(grant)&code=\(try await code())&\(home)&code_verifier=\(verifier)x",
                "\(grant)&code=\(try await code())&\(home)",
                "\(grant)&code=\(try await code())&redirect_uri=http%3A%2F%2F127.0.0.1%3A8%2F&code_verifier=\(verifier)",
                "\(grant)&code=nonsense&\(home)&code_verifier=\(verifier)",
            ]
            for form in wrong {
                let (status, body) = try await token(server, api.client, form)
                #expect(status == 400 && body["error"] == "invalid_grant")
            }
            let form = "\(grant)&code=\(try await code())&\(home)&code_verifier=\(verifier)"
            let (status, body) = try await token(server, api.client, form)
            #expect(status == 200 && body["id_token"]?.string?.hasPrefix("eyJ") == true)
            var signed = api
            signed.credential = .bearer(Secret(try #require(body["access_token"]?.string)))
            #expect(try await signed.whoAmI().name == "ada")
            #expect(try await token(server, api.client, form).0 == 400)
            let without = try await authorize(server, api.client, "state=s")
            #expect(value("error", in: without) == "invalid_request")
        }
    }

    @Test("A device is asked to wait, to slow down, and then gets the user's decision")
    func device() async throws {
        let time = MovableTime()
        var setup = KamiwazaSetup()
        setup.now = time.read
        try await Lab.platform(setup) { server, api in
            func begin() async throws -> (code: String, user: String) {
                let request = HTTPRequest(
                    .post, try HTTPURL("\(realm(server))/auth/device"), body: .text("client_id=kamiwaza-platform"))
                let body = try JSON(parsing: try await api.client.send(request).body)
                #expect(body["interval"] == 5 && body["user_code"]?.string == server.userCode)
                return (try #require(body["device_code"]?.string), try #require(server.userCode))
            }
            func poll(_ code: String, after seconds: Int) async throws -> String {
                time.advance(by: .seconds(seconds))
                let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=\(code)"
                let body = try await token(server, api.client, grant).1
                return body["error"]?.string ?? "ok"
            }
            let first = try await begin()
            #expect(try await poll(first.code, after: 0) == "authorization_pending")
            #expect(try await poll(first.code, after: 4) == "slow_down")
            #expect(try await poll(first.code, after: 5) == "slow_down")
            #expect(try await poll(first.code, after: 15) == "authorization_pending")
            server.approveDevice(first.user)
            #expect(try await poll(first.code, after: 15) == "ok")
            #expect(try await poll(first.code, after: 15) == "invalid_grant")
            let second = try await begin()
            server.denyDevice(second.user)
            #expect(try await poll(second.code, after: 0) == "access_denied")
            let third = try await begin()
            #expect(try await poll(third.code, after: 600) == "expired_token")
        }
    }
}
