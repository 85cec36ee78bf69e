import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Sign-in, refresh and sign-out", .timeLimit(.minutes(5)))
struct SignInTests {
    @Test("The right password gives tokens that identify the user")
    func signsIn() async throws {
        try await Lab.session { server, api, tokens in
            #expect(tokens.refreshToken != nil && tokens.lifetime == .seconds(300))
            let user = try await api.whoAmI()
            #expect(user.name == "ada" && user.email == "ada@lab.example" && user.roles == ["user"])
            #expect(user.subject == "id-of-ada")
            #expect(server.requests.map(\.credential) == [.none, .accessToken])
        }
    }

    @Test("Passwords with any characters arrive unchanged", arguments: ["a&b=c+d%20 ;", "пароль 密码 🔑", "\"\\/'<>\t#?"])
    func passwords(_ password: String) async throws {
        var setup = KamiwazaSetup()
        setup.accounts = [.init("Zoë & Co+1", password: password)]
        try await Lab.platform(setup) { _, api in
            var api = api
            let tokens = try await api.signIn(user: "Zoë & Co+1", password: Secret(password))
            api.credential = .bearer(tokens.accessToken)
            #expect(try await api.whoAmI().name == "Zoë & Co+1")
        }
    }

    @Test("A locked account is distinguished from a wrong password, an unknown name and a disabled account")
    func refusals() async throws {
        var setup = KamiwazaSetup()
        setup.accounts[0].isLocked = true
        setup.accounts.append(.init("grace", password: "right"))
        setup.accounts.append(.init("out", password: "right"))
        setup.accounts[2].isDisabled = true
        try await Lab.platform(setup) { server, api in
            func kind(_ user: String, _ password: String) async -> KamiwazaError? {
                await Lab.failure { _ = try await api.signIn(user: user, password: Secret(password)) }
            }
            let wrong = await kind("grace", "not this")
            #expect(wrong?.kind == .wrongPassword && wrong?.status == 401 && wrong?.exit == .denied)
            #expect(wrong?.message == "the user name or password is wrong; check both and try again")
            #expect(await kind("nobody", "right")?.message == wrong?.message)
            let disabled = await kind("out", "right")
            #expect(disabled?.kind == .wrongPassword && disabled?.status == 403)
            #expect(disabled?.message.contains("may not sign in: Account is disabled") == true)
            let locked = await kind("ada", "correct horse")
            #expect(locked?.kind == .locked && locked?.status == 423 && locked?.exit == .denied)
            #expect(locked?.message.contains("locked") == true)
            // Each was sent once: repeating a wrong password locks the account.
            #expect(server.count(.post, "/api/auth/token") == 4)
        }
    }

    @Test("An OAuth server's error for a wrong password is understood")
    func invalidGrant() async throws {
        try await Lab.platform { server, api in
            server.fail("/api/auth/token", with: .status(.badRequest, ["error": "invalid_grant"]))
            let error = await Lab.failure { _ = try await api.signIn(user: "ada", password: Lab.password) }
            #expect(error?.kind == .wrongPassword && server.requests.count == 1)
        }
    }

    @Test("Sign-in works without a refresh token if the platform issues none")
    func withoutRefreshToken() async throws {
        var setup = KamiwazaSetup()
        setup.givesRefreshTokens = false
        try await Lab.session(setup) { server, api, tokens in
            #expect(tokens.refreshToken == nil && server.count(.post, "/api/auth/token") == 2)
            let user = try await api.whoAmI()
            #expect(user.name == "ada")
        }
    }

    @Test("Sign-in works without offline tokens if the realm gives this user none")
    func withoutOfflineTokens() async throws {
        var setup = KamiwazaSetup()
        setup.refusesOfflineTokens = true
        try await Lab.session(setup) { server, api, tokens in
            #expect(tokens.refreshToken != nil && server.count(.post, "/api/auth/token") == 2)
            let user = try await api.whoAmI()
            #expect(user.name == "ada")
        }
    }

    @Test(
        "A refusal of offline tokens is understood in any format that the platform uses",
        arguments: [
            (400, ["error": "not_allowed", "error_description": "Offline tokens not allowed for the user or client"]),
            (400, ["detail": "Offline tokens not allowed for the user or client"]),
            (401, ["detail": ["error": ["error": "not_allowed"]]]),
            (502, ["detail": "Keycloak: {\"error\":\"not_allowed\"}"]),
            (400, ["detail": "invalid_scope: offline_access"]),
        ] as [(Int, JSON)])
    func offlineRefusals(status: Int, body: JSON) async throws {
        try await Lab.platform { server, api in
            server.fail("/api/auth/token", with: .status(HTTPStatus(status), body), times: 1)
            let tokens = try await api.signIn(user: "ada", password: Lab.password)
            #expect(!tokens.accessToken.isEmpty && server.count(.post, "/api/auth/token") == 2)
        }
    }

    @Test("A refresh gives new tokens, and a refresh token used twice ends the session")
    func rotation() async throws {
        try await Lab.session { server, api, first in
            var api = api
            let old = try #require(first.refreshToken)
            let second = try await api.refresh(old)
            #expect(!second.accessToken.equals(first.accessToken))
            #expect(second.refreshToken?.equals(old) == false)
            api.credential = .bearer(second.accessToken)
            #expect(try await api.whoAmI().name == "ada")

            let stolen = await Lab.failure { [api] in _ = try await api.refresh(old) }
            #expect(stolen?.kind == .sessionEnded && stolen?.exit == .denied)
            #expect(stolen?.message.contains("sign in again") == true)
            let after = await Lab.failure { [api] in _ = try await api.refresh(try #require(second.refreshToken)) }
            #expect(after?.kind == .sessionEnded)
            let user = await Lab.failure { [api] in _ = try await api.whoAmI() }
            #expect(user?.kind == .signInAgain && user?.exit == .denied)
            #expect(server.count(.post, "/api/auth/refresh") == 3)
            // The token is in the address, as the platform requires, and is not used as a credential.
            #expect(
                server.requests.filter { $0.path.hasSuffix("refresh") }
                    .allSatisfy { $0.queryNames == ["refresh_token"] && $0.credential == .none })
        }
    }

    @Test("Access tokens and sessions expire by the platform's clock")
    func expiry() async throws {
        let time = MovableTime()
        var setup = KamiwazaSetup()
        setup.now = time.read
        try await Lab.session(setup) { server, api, tokens in
            time.advance(by: .seconds(299))
            let user = try await api.whoAmI()
            #expect(user.name == "ada")
            time.advance(by: .seconds(1))
            let spent = await Lab.failure { _ = try await api.whoAmI() }
            #expect(spent?.kind == .signInAgain && server.requests.last?.credential == .spent)
            time.advance(by: .seconds(1800))
            let ended = await Lab.failure { _ = try await api.refresh(try #require(tokens.refreshToken)) }
            #expect(ended?.kind == .sessionEnded)
        }
    }

    @Test("A refused refresh means that the session has ended, but a server failure does not")
    func refreshFailures() async throws {
        try await Lab.session { server, api, tokens in
            let token = try #require(tokens.refreshToken)
            for (status, kind) in [
                (HTTPStatus.badRequest, KamiwazaError.Kind.sessionEnded), (.forbidden, .sessionEnded),
                (.internalServerError, .serverFailed), (.serviceUnavailable, .notReady),
                (.tooManyRequests, .tooManyRequests), (.unprocessable, .refused),
            ] {
                server.fail("/api/auth/refresh", with: .status(status))
                let error = await Lab.failure { _ = try await api.refresh(token) }
                #expect(error?.kind == kind, "\(status)")
            }
            #expect(server.count(.post, "/api/auth/refresh") == 6)
        }
    }

    @Test("Signing out ends the session")
    func signsOut() async throws {
        try await Lab.session { server, api, _ in
            let logout = try await api.logOut()
            #expect(logout.browserURL == "\(server.api)/auth/logout/front-channel")
            let error = await Lab.failure { _ = try await api.whoAmI() }
            #expect(error?.kind == .signInAgain)
        }
    }

    @Test(
        "A response without a usable token does not sign in",
        arguments: [
            "{}", #"{"access_token":""}"#, #"{"access_token":5}"#, #"{"access_token":null}"#,
            #"{"token_type":"bearer"}"#,
            #"{"access_token":"abc\r\nX-Evil: 1"}"#, #"{"access_token":"abc def"}"#, #"{"access_token":"ab\u0000c"}"#,
            #"{"access_token":"abc","token_type":"mac"}"#, #"{"access_token":"abc","refresh_token":"a\nb"}"#, "[]",
            "true",
        ])
    func unusableTokens(_ body: String) async throws {
        try await Lab.platform { server, api in
            server.fail("/api/auth/token", with: .json(bytes: Array(body.utf8)))
            let error = await Lab.failure { _ = try await api.signIn(user: "ada", password: Lab.password) }
            #expect(error?.kind == .badAnswer && error?.exit == .failed)
            #expect(error?.everything.contains("abc") == false)
        }
    }

    @Test(
        "The lifetime may be a number, a text or absent, and an invalid one counts as absent",
        arguments: [
            ("300", 300), ("\"300\"", 300), ("299.9", 299), ("0", 0), ("null", nil), ("-5", nil), ("1e300", nil),
            ("\"soon\"", nil), ("[]", nil), ("99999999999999999999999", nil),
        ] as [(String, Int?)])
    func lifetimes(_ text: String, _ seconds: Int?) async throws {
        try await Lab.platform { server, api in
            let body = #"{"access_token":"abc","Token_Type":1,"unknown":{"a":[1]},"expires_in":\#(text)}"#
            server.fail("/api/auth/token", with: .json(bytes: Array(body.utf8)))
            let tokens = try await api.signIn(user: "ada", password: Lab.password)
            #expect(tokens.lifetime == seconds.map { .seconds($0) } && tokens.refreshToken == nil)
        }
    }
}
