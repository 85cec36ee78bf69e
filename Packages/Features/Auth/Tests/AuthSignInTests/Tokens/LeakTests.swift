import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@testable import AuthSignIn

@Suite("Sign-in secrecy", .timeLimit(.minutes(5)))
struct LeakTests {
    @Test("The spans of requests contain no token, code or verifier")
    func spans() async throws {
        let spans = RecordingSpanSink()
        let requests = try await Provider.run { provider in
            var settings = HTTPClient.Configuration.standalone
            settings.tracer = Tracer(sinks: [spans], now: provider.time.clock)
            let client = HTTPClient(settings)
            let configuration = try #require(try await provider.configuration(client))
            let flow = CodeFlow(configuration, clientID: "martlet", client: client, now: provider.time.clock)
            let tokens = try await flow.run { url in try await Curl.browse(url.text) }
            let endpoint = TokenEndpoint(
                try #require(configuration.tokenEndpoint), clientID: "martlet", client: client,
                now: provider.time.clock)
            _ = try await endpoint.renew(try #require(tokens.refreshToken))
            await client.close()
            return provider.tokenRequests
        }
        var shown = ""
        for span in spans.spans { dump(span, to: &shown) }
        #expect(spans.spans.count == 3 && requests.count == 2)
        for name in ["code", "code_verifier", "refresh_token"] {
            let secret = try #require(requests.lazy.compactMap { $0[name] }.first)
            #expect(!shown.contains(secret), "\(name)")
        }
        #expect(!shown.contains("access-secret"))
    }

    @Test("A rejected certificate is reported as itself, and the server gets no request")
    func certificate() async throws {
        let certificates = try TestCertificates()
        try await ScriptedServer.run(tls: ScriptedTLS(certificates.selfSigned)) { connection in
            try connection.receiveRequest()
            try connection.answer()
        } during: { server in
            try await withClient { client in
                let base = try HTTPURL("https://127.0.0.1:\(server.port)")
                let discovering = await #expect(throws: HTTPError.self) {
                    try await OpenIDConfiguration.discover(at: base, using: client)
                }
                #expect(discovering?.kind == .certificate && discovering?.certificate != nil)
                let endpoint = TokenEndpoint(base, clientID: "m", client: client, now: { TestTime.start })
                let renewing = await #expect(throws: HTTPError.self) { try await endpoint.renew(Secret("r3fresh")) }
                #expect(renewing?.kind == .certificate)
                #expect(server.record.requests.isEmpty)
            }
        }
    }
}
