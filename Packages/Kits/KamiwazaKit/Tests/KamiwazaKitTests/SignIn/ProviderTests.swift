import HTTPClient
import HTTPCore
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Identity providers and browser sign-in", .timeLimit(.minutes(5)))
struct ProviderTests {
    @Test("Only enabled providers are offered, by their display name")
    func enabledOnly() async throws {
        try await Lab.platform { server, api in
            let providers = try await api.providers()
            #expect(providers.map(\.alias) == ["google"] && providers.map(\.name) == ["Google"])
            #expect(server.requests.map(\.credential) == [.none])
        }
    }

    @Test("Both spellings are read, and entries that cannot be offered are skipped")
    func spellings() async throws {
        try await Lab.platform { server, api in
            let body = """
                {"providers": [{"alias": "a", "provider_id": "oidc", "display_name": "Lab ID", "enabled": true},
                 {"alias": "b", "providerId": "saml"}, {"displayName": "no alias"}, null, {"alias": ""},
                 {"alias": "c", "enabled": false}], "idp_management_enabled": false}
                """
            server.fail("/api/auth/idp/public/providers", with: .json(bytes: Array(body.utf8)))
            let providers = try await api.providers()
            #expect(providers.map(\.name) == ["Lab ID", "b"] && providers.map(\.kind) == ["oidc", "saml"])
        }
    }

    @Test("Everything in the address of the sign-in page is escaped")
    func loginURL() async throws {
        try await Lab.client { client in
            let api = KamiwazaAPI(try HTTPURL("https://lab.example/api"), client: client)
            let url = try api.loginURL(
                provider: "my id&co", redirectURI: "http://127.0.0.1:4000/done?x=1", state: "a+b/c=")
            #expect(
                url.text
                    == "https://lab.example/api/auth/login?redirect_uri=http%3A%2F%2F127.0.0.1%3A4000%2Fdone%3Fx%3D1"
                    + "&provider=my%20id%26co&state=a%2Bb%2Fc%3D")
            #expect(try api.loginURL().text == "https://lab.example/api/auth/login")
        }
    }

    @Test("The OpenID issuer is found from the sign-in page")
    func issuer() async throws {
        try await Lab.platform { server, api in
            let issuer = try await api.openIDIssuer()
            #expect(issuer?.text == "\(server.origin)/realms/kamiwaza")
            // The redirect was only read, not followed.
            #expect(server.requests.map(\.path) == ["/api/auth/login"])
        }
    }

    @Test(
        "A sign-in page of another kind shows no issuer",
        arguments: [
            Fault.webPage(), .redirect(to: "/login"), .redirect(to: "http://["), .status(.notFound),
            .redirect(to: "ftp://x/realms/a/protocol/openid-connect/auth"),
        ])
    func noIssuer(_ fault: Fault) async throws {
        try await Lab.platform { server, api in
            server.fail("/api/auth/login", with: fault)
            let issuer = try await api.openIDIssuer()
            #expect(issuer == nil)
        }
    }
}
