import Capabilities
import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("The dialects of Anthropic and of OpenAI's responses", .timeLimit(.minutes(5))) struct NamedDialectTests {
    @Test("A message has Anthropic's shape, whole and streamed")
    func messages() async throws {
        try await withGateway { gateway in
            let body = asking("hello", "test/thinker", ["max_tokens": 50, "system": "Be brief."])
            let reply = try await gateway.json(.post, "/v1/messages", body)
            #expect(reply["type"] == "message" && reply["role"] == "assistant" && reply["stop_reason"] == "end_turn")
            #expect(reply["content"]?.array?.map { $0["type"]?.string } == ["thinking", "text"])
            #expect(reply["content"]?[1]?["text"] == "Yes.")
            #expect(reply["usage"]?["input_tokens"] == 12 && reply["usage"]?["output_tokens"] == 3)
            let streamed = asking("hello", "test/thinker", ["max_tokens": 50, "stream": true])
            let events = try await gateway.events("/v1/messages", streamed)
            #expect(events.first?.type == "message_start" && events.last?.type == "message_stop")
            let text = try events.map { try JSON(parsing: $0.text) }.compactMap { $0["delta"]?["text"]?.string }
            #expect(text.joined() == "Yes.")
        }
    }

    @Test("A response has OpenAI's shape, whole and streamed")
    func responses() async throws {
        try await withGateway { gateway in
            let reply = try await gateway.json(.post, "/v1/responses", ["model": "test/echo", "input": "hello"])
            #expect(reply["object"] == "response" && reply["status"] == "completed")
            #expect(reply["output"]?[0]?["content"]?[0]?["text"] == "You said: hello")
            #expect(reply["usage"]?["total_tokens"] == 15)
            let events = try await gateway.events(
                "/v1/responses", ["model": "test/echo", "input": "hello", "stream": true])
            #expect(events.first?.type == "response.created" && events.last?.type == "response.completed")
            let deltas = try events.filter { $0.type == "response.output_text.delta" }
                .map { try JSON(parsing: $0.text)["delta"]?.string ?? "" }
            #expect(deltas.joined() == "You said: hello")
        }
    }

    @Test("Tokens are estimated without asking a model")
    func count() async throws {
        try await withGateway { gateway in
            let short = try await gateway.json(.post, "/v1/messages/count_tokens", asking("hello"))
            let long = try await gateway.json(
                .post, "/v1/messages/count_tokens", asking(String(repeating: "hello ", count: 100)))
            let (few, many) = (try #require(short["input_tokens"]?.int), try #require(long["input_tokens"]?.int))
            #expect(few > 0 && many > few + 80)
            #expect(gateway.model.requests.isEmpty)
        }
    }

    @Test("Both dialects use sessions and leave out tools that ran here")
    func sessions() async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            let first = asking("ls {}", "test/caller", ["project_id": .string(project), "max_tokens": 50])
            let answer = try await gateway.send(.post, "/v1/messages", first)
            let session = try #require(answer.headers["X-Session-ID"])
            let content = try JSON(parsing: answer.body)["content"]
            #expect(content?.array?.map { $0["type"]?.string } == ["text"])
            let second: JSON = ["model": "test/echo", "input": "more", "session_id": .string(session)]
            let reply = try await gateway.json(.post, "/v1/responses", second)
            #expect(reply["output"]?[0]?["content"]?[0]?["text"] == "You said: ls {} | more")
        }
    }

    @Test("Both dialects refuse invalid requests", arguments: ["/v1/messages", "/v1/responses"])
    func refused(path: String) async throws {
        try await withGateway { gateway in
            for body in [
                [:], ["model": "test/echo"],
                ["model": "test/echo", "messages": [["role": "tool", "content": 5]], "input": 5],
                ["model": "test/echo", "messages": [], "input": []],
            ] as [JSON] {
                let error = try await gateway.json(.post, path, body, status: 400)
                #expect(error["type"] == "error" && error["error"]?["type"] == "invalid_request_error")
            }
            let unknown = asking("x", "test/none", ["input": "x", "max_tokens": 5])
            #expect(try await gateway.json(.post, path, unknown, status: 404)["error"]?["type"] == "not_found_error")
        }
    }

    @Test("The debug route shows how a request is interpreted without asking a model")
    func debug() async throws {
        try await withGateway { gateway in
            let body = asking("hi", "echo", ["session_id": "s", "top_k": 5, "temperature": 1])
            let told = try await gateway.json(.post, "/v1/chat/completions/debug", body)
            #expect(told["kind"] == "agent turn" && told["dialect"] == "rich" && told["model"] == "test/echo")
            #expect(told["session_id"] == "s" && told["passed_on"] == ["top_k": 5])
            let unknown = try await gateway.json(.post, "/v1/chat/completions/debug", asking("hi", "none"))
            #expect(unknown["kind"] == "completion" && unknown["model"] == nil)
            #expect(gateway.model.requests.isEmpty)
        }
    }
}
