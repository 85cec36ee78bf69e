import HTTPTesting
import JSON
import Testing

@Suite("Models of all providers", .timeLimit(.minutes(5)))
struct ChatModelsTests {
    @Test("All models are listed each time in the same order")
    func whole() async throws {
        let list =
            #"{"object":"list","data":[{"type":"model","id":"gpt-4o","display_name":"M","created_at":"2026-01-01T00:00:00Z"}]}"#
        try await ChatHome.with { connection in
            try connection.receiveRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(list.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(list)")
        } _: { home in
            var home = home
            for vendor in ["ANTHROPIC", "OPENROUTER"] {
                home.variables["\(vendor)_BASE_URL"] = "http://127.0.0.1:\(home.server.port)/v1"
                home.variables["\(vendor)_API_KEY"] = "sk-test-0123456789abcdefghij"
            }
            for _ in 0..<10 {
                let run = try await home.martlet("chat", "models", "--json")
                let providers = try run.output.json().array?.compactMap { $0["provider"]?.string } ?? []
                // Other models of this machine may follow them.
                #expect(providers.prefix(3) == ["anthropic", "openai", "openrouter"], "\(run.output) \(run.errors)")
                #expect(providers.contains("martlet"))
            }
        }
    }
}
