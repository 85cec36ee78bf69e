import Capabilities
import JSON
import Testing

@testable import AuthSignIn

@Suite("Identity token")
struct IDTokenTests {
    private static let now = TestTime.start
    private static let seconds = Int(now.microseconds / 1_000_000)

    private func read(_ change: (inout JSONObject) -> Void = { _ in }) throws -> IDToken {
        var claims: JSONObject = [
            "iss": "https://lab.example", "aud": "martlet", "exp": .int(Self.seconds + 60), "nonce": "n0nce",
            "sub": "42", "email": "ada@lab.example", "name": "Ada",
        ]
        change(&claims)
        return try IDToken(
            Secret(Provider.idToken(claims)), issuer: "https://lab.example", clientID: "martlet",
            nonce: Secret("n0nce"), now: Self.now)
    }

    @Test("The token names the user, by the user name if possible")
    func names() throws {
        #expect(try read().userName == "ada@lab.example")
        #expect(try read { $0["preferred_username"] = "ada" }.userName == "ada")
        #expect(try read { $0["preferred_username"] = "a\u{1B}[2Jda\n" }.userName == "a\\u{1B}[2Jda")
        #expect(try read { $0["email"] = nil }.userName == "Ada")
        #expect(try read().subject == "42")
    }

    @Test("A token for several programs is accepted if this one is its authorized party")
    func audience() throws {
        #expect(try read { $0["aud"] = ["martlet"] }.userName != nil)
        #expect(try read { ($0["aud"], $0["azp"]) = (["api", "martlet"], "martlet") }.userName != nil)
    }

    @Test("A token for another server, program or sign-in, or an expired one, is rejected and not quoted")
    func refused() throws {
        let changes: [(inout JSONObject) -> Void] = [
            { $0["iss"] = "https://evil.example" }, { $0["iss"] = nil }, { $0["iss"] = "https://lab.example/" },
            { $0["aud"] = "other" }, { $0["aud"] = nil }, { $0["aud"] = ["martlet", "other"] },
            { $0["azp"] = "other" }, { $0["exp"] = .int(Self.seconds - 301) }, { $0["exp"] = nil },
            { $0["exp"] = .double(1e300) }, { $0["exp"] = "soon" }, { $0["nonce"] = "other" }, { $0["nonce"] = nil },
        ]
        for change in changes {
            let error = try #require(throws: SignInError.self) { try read(change) }
            expectClean(error, of: "n0nce", "ada@lab.example")
            #expect(error.exit == .denied && [.issuer, .identity].contains(error.kind))
        }
        #expect(try read { $0["exp"] = .int(Self.seconds - 299) }.userName != nil)
    }

    @Test(
        "An invalid token is rejected",
        arguments: ["", "a.b", "a.b.c.d", "..", "a.!!!.c", "a.W10.c", "a.\(String(repeating: "A", count: 1 << 17)).c"])
    func malformed(text: String) {
        #expect(throws: SignInError.self) {
            try IDToken(Secret(text), issuer: "i", clientID: "c", nonce: nil, now: Self.now)
        }
    }
}
