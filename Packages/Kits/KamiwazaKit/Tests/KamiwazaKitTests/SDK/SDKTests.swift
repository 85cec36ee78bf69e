import HTTPCore
import HTTPTesting
import KamiwazaTesting
import Testing

/// The vendor's own SDK, unmodified, is content with the platform that our tests speak to. So the picture that they have
/// of a platform is not only ours.
@Suite("Published kamiwaza-sdk with the test platform", .timeLimit(.minutes(5)))
struct SDKTests {
    @Test("the SDK signs in, refreshes, and creates, lists and revokes a personal access token")
    func wholeSession() async throws {
        var setup = KamiwazaSetup()
        // The SDK refreshes a token that is valid for less than thirty seconds before each request.
        setup.accessLifetime = .seconds(20)
        try await KamiwazaServer.run(setup) { server in
            let package = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
            let output = try await PythonPeer.output(
                source: "import runpy, sys\nsys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')",
                ["\(package)/Peers/sdk.py", server.api, "ada", "correct horse"])
            #expect(
                output.split(separator: "\n") == [
                    "health healthy", "me ada id-of-ada ['user']", "refreshed", "providers ['google', 'old']",
                    "validated id-of-ada ada", "made martlet-sdk 3600", "listed ['martlet-sdk']", "with pat ada",
                    "revoked True", "pat refused 401", "deployments 0", "logged out", "wrong 401", "page refused",
                ])
            // Password once; then the refresh token that rotates.
            #expect(server.count(.post, "/api/auth/token") == 3)
            #expect(server.count(.post, "/api/auth/refresh") >= 5)
            #expect(server.requests.contains { $0.path.hasPrefix("/api/auth/pats/") && $0.method == .delete })
            #expect(
                server.requests.filter { $0.path == "/api/auth/pats" }.first?.queryNames == ["name", "ttl_seconds"])
        }
    }
}
