import Capabilities
import CoreTesting
import HTTPCore
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Personal access tokens", .timeLimit(.minutes(5)))
struct PersonalTokenTests {
    @Test("A token can be created, listed and used, and no longer works once it is revoked", arguments: [false, true])
    func life(_ takesBodyOnly: Bool) async throws {
        let time = MovableTime()
        var setup = KamiwazaSetup()
        setup.now = time.read
        setup.takesTokenRequestsAsBodyOnly = takesBodyOnly
        try await Lab.session(setup) { server, api, _ in
            let made = try await api.makePersonalToken(name: "martlet on 'küche' & co", lifetime: .seconds(8_640_000))
            #expect(server.count(.post, "/api/auth/pats") == (takesBodyOnly ? 2 : 1))
            #expect(made.facts.name == "martlet on 'küche' & co" && !made.facts.isRevoked)
            #expect(made.facts.created == time.now)
            #expect(made.facts.expires.map { $0 - time.now } == .seconds(8_640_000))
            #expect(try await api.personalTokens() == [made.facts])

            var other = api
            other.credential = .bearer(made.token)
            #expect(try await other.whoAmI().name == "ada")
            #expect(server.requests.last?.credential == .personalToken)

            try await other.revokePersonalToken(made.facts.id)
            let error = await Lab.failure { [other] in _ = try await other.whoAmI() }
            #expect(error?.kind == .signInAgain && server.requests.last?.credential == .spent)
            #expect(try await api.personalTokens().map(\.isRevoked) == [true])
        }
    }

    @Test("A token without a lifetime does not expire, and one with a lifetime does")
    func lifetimes() async throws {
        let time = MovableTime()
        var setup = KamiwazaSetup()
        setup.now = time.read
        setup.accessLifetime = .seconds(1_000_000)
        try await Lab.session(setup) { _, api, _ in
            let long = try await api.makePersonalToken(name: "long")
            let short = try await api.makePersonalToken(name: "short", lifetime: .seconds(60))
            #expect(long.facts.expires == nil)
            time.advance(by: .seconds(60))
            var with = api
            with.credential = .bearer(long.token)
            #expect(try await with.whoAmI().name == "ada")
            with.credential = .bearer(short.token)
            let error = await Lab.failure { [with] in _ = try await with.whoAmI() }
            #expect(error?.kind == .signInAgain)
        }
    }

    @Test(
        "An unknown id is not found, and an id cannot lead to another path",
        arguments: ["gone", "a/b?c", "%2e"])
    func unknown(_ id: String) async throws {
        try await Lab.session { server, api, _ in
            let error = await Lab.failure { try await api.revokePersonalToken(id) }
            #expect(error?.kind == .notFound && error?.message.contains("PAT not found") == true)
            #expect(server.requests.last?.method == .delete)
            #expect(server.requests.last?.path.split(separator: "/").count == 4)
        }
    }

    @Test("A list may be bare or wrapped, with ids and times in any usual format")
    func shapes() async throws {
        try await Lab.session { server, api, _ in
            let body = """
                [{"jti": 17, "exp": "1800000000", "created_at": 1790000000.5, "name": null, "new": [1]},
                 {"id": "3f2b", "created_at": "2027-01-15T08:00:00+02:00", "ttl_seconds": 60, "revoked": true}, 5]
                """
            server.fail("/api/auth/pats", with: .json(bytes: Array(body.utf8)))
            let tokens = try await api.personalTokens()
            #expect(tokens.map(\.id) == ["17", "3f2b"] && tokens.map(\.isRevoked) == [false, true])
            #expect(tokens[0].expires == Timestamp(microseconds: 1_800_000_000_000_000) && tokens[0].name == nil)
            #expect(tokens[0].created == Timestamp(microseconds: 1_790_000_000_500_000))
            #expect(tokens[1].expires == Timestamp(iso8601: "2027-01-15T06:01:00Z"))
        }
    }

    @Test(
        "An entry without an id and a response without a list are invalid",
        arguments: [
            #"{"pats":[{"name":"x"}]}"#, #"{"pats":{}}"#, #"{"pats":null}"#, "{}", "7", #""pats""#,
        ])
    func unusable(_ body: String) async throws {
        try await Lab.session { server, api, _ in
            server.fail("/api/auth/pats", with: .json(bytes: Array(body.utf8)))
            let error = await Lab.failure { _ = try await api.personalTokens() }
            #expect(error?.kind == .badAnswer)
        }
    }
}
