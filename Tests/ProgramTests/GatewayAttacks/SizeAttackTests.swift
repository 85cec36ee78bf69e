import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("Oversized requests to a gateway", .timeLimit(.minutes(5)))
struct SizeAttackTests {
    private static func completion(_ content: String) -> String {
        #"{"messages":[{"role":"user","content":"# + content + "}]}"
    }

    @Test("A too large head, body or depth is refused while it arrives, without using memory")
    func refused() async throws {
        try await GatewayClient.with { gateway in
            let big = String(repeating: "x", count: 1 << 20)
            let type = ["Content-Type: application/json"]
            let post = { (body: String) in GatewayClient.raw("POST", "/v1/chat/completions", type, body: body) }
            func nested(_ open: String, _ close: String, _ depth: Int) -> String {
                String(repeating: open, count: depth) + String(repeating: close, count: depth)
            }
            let forms: [(name: String, text: String, status: [Int])] = [
                ("an address", GatewayClient.raw("GET", "/v1/models/\(big)"), [414]),
                ("a query", GatewayClient.raw("GET", "/v1/projects?search=\(big)"), [414]),
                ("a line", GatewayClient.raw("GET", "/v1/models", ["X: \(big)"]), [431]),
                ("a name of a line", GatewayClient.raw("GET", "/v1/models", ["\(big): x"]), [431]),
                (
                    "many lines",
                    GatewayClient.raw("GET", "/v1/models", (0..<5000).map { "X-\($0): x" }), [431]
                ),
                ("a token", GatewayClient.raw("GET", "/v1/models", ["X-API-Key: \(big)"]), [431]),
                (
                    "a body that says so",
                    GatewayClient.raw("POST", "/v1/projects", type).replacing(
                        "Content-Length: 0", with: "Content-Length: 99999999999"), [413]
                ),
                ("an array in arrays", post(nested("[", "]", 100_000)), [400]),
                ("an object in objects", post(nested("{\"a\":", "}", 100_000)), [400]),
                ("a content in contents", post(Self.completion(nested("[", "]", 5000))), [400]),
                ("a number", post(Self.completion("1" + String(repeating: "0", count: 1 << 20))), [400]),
                ("an exponent", post("{\"messages\":[],\"temperature\":1e999999999}"), [400]),
                ("bytes that are no text", post("{\"messages\":\"") + "\u{0}\u{1}", [400]),
                ("text behind the end", post("{\"messages\":[]}{}"), [400]),
                ("a name twice", post("{\"messages\":[],\"messages\":[],\"model\":7}"), [400]),
            ]
            for (name, text, status) in forms {
                let answer = try await gateway.exchange(text)
                #expect(status.contains(answer.answerStatus), "\(name): \(answer.prefix(500))")
                #expect(answer.answers == 1 && answer.contains(#""error""#), "\(name)")
            }
            let before = Processes.residentBytes(of: gateway.process)
            // Endless chunks are accepted only up to the limit of a body.
            let connection = try gateway.connect()
            try await connection.send(
                GatewayClient.raw("POST", "/v1/chat/completions", type)
                    .replacing("Content-Length: 0", with: "Transfer-Encoding: chunked"))
            var sent = 0
            while sent < 256, try await connection.send("100000\r\n\(big)\r\n") { sent += 1 }
            #expect(sent < 64, "\(sent) MiB were taken")
            connection.close()
            let after = Processes.residentBytes(of: gateway.process)
            #expect(after - before < 128 << 20, "\(before) became \(after)")
            #expect(try await gateway.json(.get, "/health")["status"] == "healthy")
        }
    }

    @Test("A request just below the limits is answered")
    func accepted() async throws {
        try await GatewayClient.with { gateway in
            let words = String(repeating: "word ", count: 400_000)
            let reply = try await gateway.json(.post, "/v1/chat/completions", GatewayClient.saying("repeat: \(words)"))
            let text = reply["choices"]?[0]?["message"]?["content"]?.string ?? ""
            #expect(text.utf8.count > 1_900_000)
            let many = (0..<20_000).map { JSON.object(["role": $0 % 2 == 0 ? "user" : "assistant", "content": "hi"]) }
            let asked: JSON = ["messages": .array(many + [["role": "user", "content": "repeat: last"]])]
            let last = try await gateway.json(.post, "/v1/chat/completions", asked)
            #expect(last["choices"]?[0]?["message"]?["content"]?.string?.contains("last") == true)
            let project = try await gateway.makeProject().id
            let file = String(repeating: "x", count: 16 << 20)
            let path = "/v1/projects/\(project)/files/large"
            #expect(try await gateway.exchange(GatewayClient.raw("PUT", path, body: file)).answerStatus == 201)
            #expect(try await gateway.exchange(GatewayClient.raw("PUT", path, body: file + "x")).answerStatus == 413)
            let read = try await gateway.send(.get, path)
            #expect(read.body.count == 16 << 20)
        }
    }

    @Test("Colliding names and a compressed body do not bypass the limits")
    func tricks() async throws {
        try await GatewayClient.with { gateway in
            let members = (0..<200_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
            let body = "{\"messages\":[{\"role\":\"user\",\"content\":\"repeat: ok\"}],\(members)}"
            let answer = try await gateway.exchange(
                GatewayClient.raw("POST", "/v1/chat/completions", ["Content-Type: application/json"], body: body))
            #expect(answer.answerStatus == 200 || answer.answerStatus == 400, "\(answer.prefix(500))")
            // A compressed body is not decompressed, so it is not JSON.
            let packed = try await gateway.exchange(
                GatewayClient.raw(
                    "POST", "/v1/chat/completions", ["Content-Type: application/json", "Content-Encoding: gzip"],
                    body: "\u{1F}\u{8B}\u{8}"))
            #expect([400, 415].contains(packed.answerStatus))
        }
    }
}
