import Capabilities
import HTTPClient
import HTTPCore
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Renewal of a credential", .timeLimit(.minutes(5)))
struct RenewalTests {
    @Test("A request, even a POST, is repeated with a new credential after a 401")
    func renewed() async throws {
        try await Lab.session { server, api, tokens in
            for call in [0, 1] {
                let authenticator = RenewingAuthenticator(Secret("stale-token"), tokens.accessToken)
                var api = api
                api.credential = .signer(RequestSigner(authenticator, for: ServerID("lab")))
                server.forgetRequests()
                if call == 0 {
                    let user = try await api.whoAmI()
                    #expect(user.name == "ada")
                } else {
                    let made = try await api.makePersonalToken(name: "x")
                    #expect(made.facts.name == "x")
                }
                #expect(authenticator.renewals == 1 && server.requests.map(\.credential) == [.foreign, .accessToken])
            }
            let listed = try await api.personalTokens()
            #expect(listed.count == 1)
        }
    }

    @Test("A 401 is reported if there is no new credential")
    func notRenewed() async throws {
        try await Lab.platform { server, api in
            let authenticator = RenewingAuthenticator(Secret("stale-token"))
            var api = api
            api.credential = .signer(RequestSigner(authenticator, for: ServerID("lab")))
            let error = await Lab.failure { [api] in _ = try await api.whoAmI() }
            #expect(error?.kind == .signInAgain && authenticator.renewals == 1 && server.requests.count == 1)
        }
    }

    @Test("Requests for sign-in, refresh and the public list carry no credential")
    func unsigned() async throws {
        try await Lab.session { server, api, tokens in
            server.forgetRequests()
            _ = try await api.signIn(user: "ada", password: Lab.password)
            _ = try await api.refresh(try #require(tokens.refreshToken))
            _ = try await api.providers()
            try await api.health()
            #expect(server.requests.count == 4 && server.requests.allSatisfy { $0.credential == .none })
        }
    }
}
