import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("Attacks by web pages on a gateway", .timeLimit(.minutes(5)))
struct OriginAttackTests {
    private static let settings = "{gateway: {origins: ['https://app.example'], hosts: ['lab.local']}}"
    private static let targets = ["/health", "/v1/models", "/v1/projects", "/openapi.json", "/metrics", "/"]

    @Test("A host name of an attacker that resolves to this machine is refused on every route")  // row G-06
    func rebinding() async throws {
        try await GatewayClient.with(Self.settings) { gateway in
            let port = gateway.gateway.port
            for host in [
                "evil.example", "evil.example:\(port)", "127.0.0.1.evil.example:\(port)", "localhost.evil.example",
                "evil.example.localhost.com", "xlocalhost", "localhostx", "lab.local.evil.example", "xlab.local",
                "0.0.0.0:\(port)", "127.0.0.2:\(port)", "127.1:\(port)", "2130706433:\(port)", "0x7f000001:\(port)",
                "0177.0.0.1:\(port)", "[::ffff:127.0.0.1]:\(port)", "[::]:\(port)", "10.0.0.1", "app.example",
                "evil.example%00localhost", "localhost%2eevil.example", "1.1.1.1",
            ] {
                for target in Self.targets {
                    let answer = try await gateway.exchange(GatewayClient.raw("GET", target, host: host))
                    #expect([400, 421].contains(answer.answerStatus), "\(host)\(target): \(answer.prefix(300))")
                    #expect(!answer.contains("martlet-offline") && !answer.contains("healthy"))
                }
                let body = #"{"name":"evil"}"#
                let made = try await gateway.exchange(
                    GatewayClient.raw(
                        "POST", "/v1/projects", ["Content-Type: application/json"], body: body, host: host))
                #expect([400, 421].contains(made.answerStatus), "\(host)")
            }
            // A full URL in the request line overrides the Host header (RFC 9112, 3.2.2).
            let whole = try await gateway.exchange(
                GatewayClient.raw("GET", "http://evil.example/v1/models", host: "localhost"))
            #expect(whole.answerStatus == 421, "\(whole)")
            for host in [
                "localhost", "127.0.0.1:\(port)", "LOCALHOST:\(port)", "lab.local", "Lab.Local:1", "[::1]:\(port)",
            ] {
                let answer = try await gateway.exchange(GatewayClient.raw("GET", "/v1/models", host: host))
                #expect(answer.answerStatus == 200, "\(host)")
            }
            #expect(try await gateway.json(.get, "/v1/projects")["pagination"]?["total_items"] == 0)
        }
    }

    @Test("Another origin gets no response data, even with the token, and no CORS headers")  // row G-06
    func origins() async throws {
        try await GatewayClient.with(Self.settings) { gateway in
            let port = gateway.gateway.port
            for origin in [
                "null", "https://evil.example", "http://app.example", "https://app.example.evil.example",
                "https://xapp.example", "https://app.example:444", "https://app.example/", "https://app.example ,x",
                "https://evil.example https://app.example", "https://app.example@evil.example", "http://lab.local",
                "http://localhost:\(port + 1)", "http://localhost", "http://localhost.evil.example:\(port)", "file://",
                "https://localhost:\(port)", "chrome-extension://abcdef", "*", "http://127.0.0.1.evil.example", "",
                "http://[::1]:\(port)", "https://app.example\u{0}", "https://app.example\t.evil.example",
            ] {
                for target in Self.targets {
                    let answer = try await gateway.exchange(
                        GatewayClient.raw("GET", target, ["Origin: \(origin)"], host: "localhost:\(port)"))
                    #expect([400, 403].contains(answer.answerStatus), "\(origin) \(target): \(answer.prefix(300))")
                    #expect(!answer.contains("Access-Control-Allow-Origin"), "\(origin)")
                }
                let lines = ["Origin: \(origin)", "Access-Control-Request-Method: POST"]
                let asked = try await gateway.exchange(
                    GatewayClient.raw("OPTIONS", "/v1/projects", lines, host: "localhost:\(port)"))
                #expect([400, 403].contains(asked.answerStatus), "\(origin): \(asked)")
                #expect(!asked.contains("Access-Control-Allow"))
            }
            #expect(try await gateway.json(.get, "/v1/projects")["pagination"]?["total_items"] == 0)
        }
    }

    @Test("Requests that an HTML form can send are refused")
    func forms() async throws {
        try await GatewayClient.with(Self.settings) { gateway in
            let body = #"{"name":"evil","messages":[{"role":"user","content":"hi"}]}"#
            for type in [
                "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json",
            ] {
                for target in ["/v1/projects", "/v1/sessions", "/v1/chat/completions", "/v1/messages", "/v1/responses"]
                {
                    // Old browsers omit the origin, but they cannot have the token.
                    let raw = GatewayClient.raw("POST", target, ["Content-Type: \(type)"], body: body)
                    let known = try await gateway.exchange(raw)
                    #expect(known.answerStatus == 415, "\(type) \(target): \(known)")
                    let unknown = try await gateway.exchange(raw.replacing(GatewayHome.everything, with: "guess"))
                    #expect(unknown.answerStatus == 401, "\(type) \(target)")
                }
            }
            #expect(try await gateway.json(.get, "/v1/projects")["pagination"]?["total_items"] == 0)
            #expect(try await gateway.json(.get, "/v1/sessions")["pagination"]?["total_items"] == 0)
        }
    }

    @Test("An allowed page passes the preflight and can read responses, and no other page can")  // row G-06
    func allowed() async throws {
        try await GatewayClient.with(Self.settings) { gateway in
            for method in ["GET", "POST"] {
                let lines = [
                    "Origin: https://app.example", "Access-Control-Request-Method: \(method)",
                    "Access-Control-Request-Headers: authorization, content-type",
                ]
                // A browser sends the preflight without the token.
                let raw = GatewayClient.raw("OPTIONS", "/v1/projects", lines).replacing(
                    "Authorization", with: "X-Nothing")
                let answer = try await gateway.exchange(raw)
                #expect(answer.answerStatus == 204, "\(answer)")
                #expect(answer.contains("Access-Control-Allow-Origin: https://app.example\r\n"))
                #expect(answer.contains("Authorization") && answer.contains("Content-Type") && answer.contains(method))
                #expect(!answer.contains("Access-Control-Allow-Credentials"))
            }
            let answer = try await gateway.exchange(
                GatewayClient.raw("DELETE", "/v1/projects/x", ["Origin: https://app.example"]))
            #expect(
                answer.answerStatus == 404 && answer.contains("Access-Control-Allow-Origin: https://app.example\r\n"))
            // So that no cache gives one page the response for another.
            #expect(answer.contains("Vary: Origin"))
            #expect(try await gateway.exchange(GatewayClient.raw("GET", "/v1/models")).contains("Vary: Origin"))
        }
    }
}
