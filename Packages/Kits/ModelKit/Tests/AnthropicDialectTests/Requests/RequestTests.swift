import AnthropicDialect
import Capabilities
import DialectTesting
import JSON
import ModelKit
import Testing

@Suite("Requests to Anthropic")
struct RequestTests {
    /// Without cache marks, which have their own tests.
    private var plain: AnthropicDialect {
        var options = AnthropicOptions()
        options.marksCache = false
        return AnthropicDialect(options)
    }

    @Test("System messages are separate, and turns of one side are merged")
    func turns() throws {
        let request = ChatRequest(
            model: "claude-sonnet-4-5",
            messages: [
                Message(.system, "Be brief."), Message(.user, "One."), Message(.user, "Two."),
                Message(.assistant, "Three."), Message(.assistant, " \n"), Message(.system, "Be kind."),
                Message(.user, "Four."),
            ])
        let body = try plain.body(of: request)
        #expect(body["system"] == [["type": "text", "text": "Be brief."], ["type": "text", "text": "Be kind."]])
        #expect(
            body["messages"] == [
                ["role": "user", "content": [["type": "text", "text": "One."], ["type": "text", "text": "Two."]]],
                ["role": "assistant", "content": [["type": "text", "text": "Three."]]],
                ["role": "user", "content": [["type": "text", "text": "Four."]]],
            ])
        #expect(body["stream"] == true && body["model"] == "claude-sonnet-4-5")
    }

    @Test("Results come first in one turn, and reasoning is sent back unchanged with its signature")
    func results() throws {
        let call = ToolCall(id: "a", name: "read", input: ["path": "x"])
        let bad = MalformedCall(id: "b", name: "read", text: "{", reason: "cut")
        let request = ChatRequest(
            model: "claude-sonnet-4-5",
            messages: [
                Message(.user, "Read."),
                Message(
                    .assistant,
                    [
                        .reasoning(Reasoning("hm\n", signature: "sig")), .reasoning(Reasoning("", sealed: "data")),
                        .reasoning(Reasoning("another's")), .reasoning(Reasoning("", sealed: #"[{"a":1}]"#)),
                        .call(call), .malformedCall(bad),
                        .call(ToolCall(id: "s", name: "web_search", input: [:], isDone: true)),
                        .result(ToolResult(call: "s", content: "found")),
                    ]),
                Message(.user, "Hurry."),
                Message(.tool, [.result(ToolResult(call: "a", content: "text"))]),
                Message(.tool, [.result(ToolResult(call: "b", content: "bad", isError: true))]),
            ])
        let messages = try #require(try plain.body(of: request)["messages"])
        #expect(
            messages[1]?["content"] == [
                ["type": "thinking", "thinking": "hm\n", "signature": "sig"],
                ["type": "redacted_thinking", "data": "data"],
                ["type": "tool_use", "id": "a", "name": "read", "input": ["path": "x"]],
                ["type": "tool_use", "id": "b", "name": "read", "input": ["invalid_json": "{"]],
            ])
        #expect(
            messages[2] == [
                "role": "user",
                "content": [
                    ["type": "tool_result", "tool_use_id": "a", "content": "text"],
                    ["type": "tool_result", "tool_use_id": "b", "content": "bad", "is_error": true],
                    ["type": "text", "text": "Hurry."],
                ],
            ])
    }

    @Test("Images, PDF files and texts are attached")
    func attachments() throws {
        let files: [Message.Part] = [
            .attachment(Attachment(name: "i", mediaType: "image/png", bytes: [1, 2, 3])),
            .attachment(Attachment(name: "d.pdf", mediaType: "application/pdf", bytes: [4])),
            .attachment(Attachment(name: "t.txt", mediaType: "text/plain", bytes: Array("hi".utf8))),
        ]
        let body = try plain.body(of: ChatRequest(model: "m", messages: [Message(.user, files)]))
        func source(_ type: String, _ media: String, _ data: String) -> JSON {
            ["type": .string(type), "media_type": .string(media), "data": .string(data)]
        }
        #expect(
            body["messages"]?[0]?["content"] == [
                ["type": "image", "source": source("base64", "image/png", "AQID")],
                ["type": "document", "source": source("base64", "application/pdf", "BA=="), "title": "d.pdf"],
                ["type": "document", "source": source("text", "text/plain", "hi"), "title": "t.txt"],
            ])
    }

    @Test("A result with an image is a list of blocks in its order; what has no block is told in words")
    func resultImages() throws {
        let parts: [ToolPart] = [
            .text("before"), .media(Attachment(name: "image", mediaType: "image/png", bytes: [1, 2, 3])),
            .media(Attachment(name: "audio", mediaType: "audio/wav", bytes: [4])),
            .link(ToolLink(address: "file:///a", name: "a")),
        ]
        func content(_ parts: [ToolPart]) throws -> JSON? {
            let request = ChatRequest(
                model: "m", messages: [Message(.tool, [.result(ToolResult(call: "a", parts: parts))])])
            return try plain.body(of: request)["messages"]?[0]?["content"]?[0]?["content"]
        }
        #expect(
            try content(parts) == [
                ["type": "text", "text": "before"],
                ["type": "image", "source": ["type": "base64", "media_type": "image/png", "data": "AQID"]],
                ["type": "text", "text": "[recording audio/wav, 1 B]"], ["type": "text", "text": "[a](file:///a)"],
            ])
        #expect(try content([parts[0], parts[3]]) == "before\n[a](file:///a)")
    }

    @Test("Stable parts are marked for the cache, at most four")
    func cache() throws {
        let tool = ToolDescription(name: "t", summary: "", input: ["type": "object"], effect: .reads)
        let talk = (0..<5).flatMap { [Message(.user, "q\($0)"), Message(.assistant, "a\($0)")] }
        let last = Message(.tool, [.result(ToolResult(call: "x", content: "r"))])
        let request = ChatRequest(
            model: "m", messages: [Message(.system, "s")] + talk + [last], tools: [tool, tool])
        let body = try AnthropicDialect().body(of: request)
        let mark: JSON = ["type": "ephemeral"]
        #expect(JSON.object(body).text().split(separator: "cache_control").count == 5)
        #expect(body["system"]?[0]?["cache_control"] == mark)
        #expect(body["tools"]?[1]?["cache_control"] == mark)
        #expect(body["messages"]?[8]?["content"]?[0]?["cache_control"] == mark)
        #expect(body["messages"]?[10]?["content"]?[0]?["cache_control"] == mark)
        #expect(!JSON.object(try plain.body(of: request)).text().contains("cache_control"))
    }

    @Test(
        "There is always a token limit: of the request, the options or the model",
        arguments: [
            ("claude-3-haiku-20240307", 4096), ("claude-3-5-sonnet-20241022", 8192), ("claude-opus-4-1", 32_000),
            ("us.anthropic.claude-opus-4-20250514-v1:0", 32_000), ("llama", 4096), ("claude-next", 32_000),
        ])
    func limits(_ model: String, _ limit: Int) throws {
        var request = ChatRequest(model: model, messages: [Message(.user, "a")])
        #expect(try plain.body(of: request)["max_tokens"] == .int(limit))
        var options = AnthropicOptions()
        options.maxTokens = 77
        #expect(try AnthropicDialect(options).body(of: request)["max_tokens"] == 77)
        request.options.maxTokens = 5
        #expect(try AnthropicDialect(options).body(of: request)["max_tokens"] == 5)
    }

    @Test("Other options and extras are written")
    func options() throws {
        var request = ChatRequest(model: "m", messages: [Message(.user, "a")], streams: false, extras: ["top_k": 5])
        (request.options.temperature, request.options.topP, request.options.stop) = (0.5, 0.9, ["END"])
        let body = try plain.body(of: request)
        #expect(body["temperature"] == 0.5 && body["top_p"] == 0.9 && body["stop_sequences"] == ["END"])
        #expect(body["stream"] == nil && body["top_k"] == 5 && body["tools"] == nil && body["system"] == nil)
    }
}
