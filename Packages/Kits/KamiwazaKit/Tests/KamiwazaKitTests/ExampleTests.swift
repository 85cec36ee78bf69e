import Capabilities
import HTTPClient
import HTTPCore
import KamiwazaKit
import KamiwazaTesting
import Testing

@Test("The README's example works", .timeLimit(.minutes(5)))
func readmeExample() async throws {
    try await KamiwazaServer.run { server in
        let client = HTTPClient(.standalone)
        let password = Secret("correct horse")

        let base = try await KamiwazaAddress(server.origin).discover(using: client)
        var api = KamiwazaAPI(base, client: client)
        let tokens = try await api.signIn(user: "ada", password: password)
        api.credential = .bearer(tokens.accessToken)
        let device = try await api.makePersonalToken(name: "martlet on lab", lifetime: .seconds(8_640_000))
        api.credential = .bearer(device.token)
        let user = try await api.whoAmI()
        try await api.revokePersonalToken(device.facts.id)

        #expect(user.name == "ada")
        #expect(server.count(.post, "/api/auth/token") == 1)
        await client.close()
    }
}
