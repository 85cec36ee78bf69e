import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("A gateway with a full disk", .timeLimit(.minutes(5)))
struct DiskAttackTests {
    /// The maximum size of the gateway's files, in units of 512 bytes, as dash counts.
    private static func limit(_ halves: Int) -> String { "ulimit -f \(halves)" }
    private static let full = "no space left"

    /// Asks until the database is full: all earlier answers are whole, and the last reports it.
    private func fill(_ gateway: GatewayClient) async throws -> JSON {
        for number in 0..<500 {
            let reply = try await gateway.json(
                .post, "/v1/chat/completions", GatewayClient.saying("repeat: hello \(number)"))
            #expect(reply["choices"]?[0]?["message"]?["content"] == .string("hello \(number)"))
            if reply["warning"] != nil { return reply }
        }
        throw RawConnection.Failure(message: "the disk did not become full")
    }

    @Test("Every answer arrives with a warning that it could not be counted")
    func completions() async throws {
        try await GatewayHome.with { home in
            try await home.attack(after: Self.limit(300)) { gateway in
                let last = try await fill(gateway)
                #expect(last["warning"]?["code"] == "storage_full")
                #expect(last["warning"]?["message"]?.string?.contains(Self.full) == true)
                // In a stream the text comes first, and then the error.
                for (path, mark) in [
                    ("/v1/chat/completions", "data: {\"error\":"), ("/v1/messages", "event: error"),
                    ("/v1/responses", "event: response.failed"),
                ] {
                    var body =
                        GatewayClient.saying("repeat: still here", ["stream": true, "max_tokens": 100]).object ?? [:]
                    if path == "/v1/responses" {
                        body = ["model": .string(GatewayClient.offline), "input": "repeat: still here", "stream": true]
                    }
                    let answer = try await gateway.send(.post, path, .object(body))
                    #expect(answer.status == .ok)
                    let text = answer.text
                    let said = try #require(text.ranges(of: "here").first, "\(text)")
                    let failed = try #require(text.ranges(of: mark).first, "\(text)")
                    #expect(said.lowerBound < failed.lowerBound && text[failed.lowerBound...].contains(Self.full))
                }
                #expect(try await gateway.send(.get, "/metrics").text.contains("martlet_turns_running 0\n"))
                #expect(try await gateway.json(.get, "/health")["status"] == "healthy")
                #expect(try await gateway.json(.get, "/v1/usage")["data"]?.array?.isEmpty == false)
            }
        }
    }

    @Test("No turn starts that could not be stored, and the session continues as soon as there is space")
    func turns() async throws {
        try await GatewayHome.with { home in
            var session = ""
            var whole = 0
            try await home.attack(after: Self.limit(1000)) { gateway in
                session = try #require(
                    try await gateway.json(.post, "/v1/sessions", ["title": "Full"])["id"]?.string)
                var refusal: JSON?
                for number in 0..<500 where refusal == nil {
                    let asked = GatewayClient.saying("repeat: word \(number)", ["session_id": .string(session)])
                    let answer = try await gateway.send(.post, "/v1/chat/completions", asked)
                    if answer.status == .ok { whole += 1 } else { refusal = try JSON(parsing: answer.body) }
                }
                #expect(whole > 2)
                #expect(refusal?["error"]?["code"] == "storage_full" && refusal?["error"]?["status"] == 507)
                // A stream that has already started reports it in a frame, any other request by its status.
                let asked = GatewayClient.saying("repeat: more", ["session_id": .string(session), "stream": true])
                let streamed = try await gateway.send(.post, "/v1/chat/completions", asked)
                #expect(streamed.status.code == 507 || streamed.text.contains("storage_full"), "\(streamed.text)")
                #expect(try await gateway.send(.get, "/metrics").text.contains("martlet_turns_running 0\n"))
                let refused = try await gateway.json(.post, "/v1/projects", ["name": "x"], status: 507)
                #expect(refused["error"]?["code"] == "storage_full")
                // Stored data stays readable.
                let kept = try await gateway.json(.get, "/v1/sessions/\(session)/messages?per_page=100")
                #expect((kept["data"]?.array?.count ?? 0) >= whole * 2)
            }
            try await home.attack { gateway in
                let asked = GatewayClient.saying("repeat: space again", ["session_id": .string(session)])
                let reply = try await gateway.json(.post, "/v1/chat/completions", asked)
                #expect(reply["choices"]?[0]?["message"]?["content"] == "space again")
                try await gateway.expectSound(session: session)
            }
        }
    }
}
