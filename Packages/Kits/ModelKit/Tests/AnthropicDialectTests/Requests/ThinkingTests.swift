import AnthropicDialect
import Capabilities
import JSON
import ModelKit
import Testing

@Suite("Reasoning and schemas")
struct ThinkingTests {
    private func body(
        _ model: String, _ effort: ModelOptions.Effort?, schema: AnswerSchema? = nil, tools: [ToolDescription] = [],
        options: AnthropicOptions = AnthropicOptions(), limit: Int? = nil
    ) throws -> JSONObject {
        var request = ChatRequest(model: model, messages: [Message(.user, "a")], tools: tools, schema: schema)
        (request.options.effort, request.options.maxTokens) = (effort, limit)
        return try AnthropicDialect(options).body(of: request)
    }

    @Test(
        "Newer models get an effort word, older ones a token budget",
        arguments: [
            ("claude-opus-4-8", true), ("claude-sonnet-4.6", true), ("claude-fable-5-1", true),
            ("claude-haiku-4-5", false),
            ("claude-3-7-sonnet-20250219", false), ("claude-opus-4-20250514", false), ("a-proxy's-own", false),
        ])
    func ways(_ model: String, _ isAdaptive: Bool) throws {
        let body = try body(model, .medium, limit: 30_000)
        if isAdaptive {
            #expect(body["thinking"] == ["type": "adaptive", "display": "summarized"])
            #expect(body["output_config"] == ["effort": "medium"])
        } else {
            #expect(body["thinking"] == ["type": "enabled", "budget_tokens": 10_240])
            #expect(body["output_config"] == nil)
        }
        #expect(try self.body(model, nil)["thinking"] == nil)
    }

    @Test("A budget leaves room for the answer, or is refused")
    func room() throws {
        #expect(try body("claude-haiku-4-5", .high, limit: 4096)["thinking"]?["budget_tokens"] == 2048)
        let error = #expect(throws: DialectError.self) { try body("claude-haiku-4-5", .low, limit: 2000) }
        #expect(error?.kind == .unsupported)
        #expect(error?.message.contains("2000 tokens") == true)
    }

    @Test("A model without reasoning is not asked for it")
    func none() {
        let error = #expect(throws: DialectError.self) { try body("claude-3-5-haiku-20241022", .low) }
        #expect(error?.kind == .unsupported)
        #expect(error?.message.contains("claude-3-5-haiku") == true)
    }

    private let schema = AnswerSchema(name: "city", schema: ["type": "object"])

    @Test("A schema is the input of a required tool, or of one of several tools")
    func forcedTool() throws {
        let body = try body("claude-sonnet-4-5", nil, schema: schema)
        #expect(body["tool_choice"] == ["type": "tool", "name": "structured_answer"])
        #expect(body["tools"]?[0]?["input_schema"] == ["type": "object"])
        let tool = ToolDescription(name: "t", summary: "", input: [:], effect: .reads)
        let both = try self.body("claude-sonnet-4-5", nil, schema: schema, tools: [tool])
        #expect(both["tool_choice"] == ["type": "any"])
        #expect(both["tools"]?.array?.count == 2)
        let clash = ToolDescription(name: "structured_answer", summary: "", input: [:], effect: .reads)
        #expect(throws: DialectError.self) { try self.body("m", nil, schema: schema, tools: [clash]) }
    }

    @Test("A reasoning model cannot be forced to call a tool, and is asked for the format")
    func format() throws {
        let format: JSON = ["type": "json_schema", "schema": ["type": "object"]]
        let body = try body("claude-opus-4-8", .high, schema: schema)
        #expect(body["output_config"] == ["format": format, "effort": "high"])
        #expect(body["tools"] == nil && body["tool_choice"] == nil)
        var options = AnthropicOptions()
        options.schemaWay = .format
        #expect(try self.body("m", nil, schema: schema, options: options)["output_config"] == ["format": format])
    }

    @Test("An unsupported option is refused by name")
    func unsupported() {
        func failure(_ parts: [Message.Part] = [], _ role: Message.Role = .user, _ change: (inout ModelOptions) -> Void)
            -> String?
        {
            var request = ChatRequest(model: "claude-haiku-4-5", messages: [Message(role, [.text("a")] + parts)])
            change(&request.options)
            let error = #expect(throws: DialectError.self) { try AnthropicDialect().body(of: request) }
            #expect(error?.kind == .unsupported && error?.exit == .usage)
            return error?.message
        }
        #expect(failure { $0.seed = 1 }?.contains("seed") == true)
        #expect(failure { $0.temperature = 1.5 }?.contains("temperatures above 1") == true)
        #expect(failure { ($0.temperature, $0.effort) = (0.5, .low) }?.contains("temperature") == true)
        let film = Message.Part.attachment(Attachment(name: "a\u{202E}b", mediaType: "video/mp4", bytes: [0]))
        #expect(failure([film]) { _ in }?.contains(#"video/mp4, such as a\u{202E}b"#) == true)
        #expect(failure([film], .assistant) { _ in }?.contains("assistant") == true)
        #expect(failure([film], .system) { _ in }?.contains("system") == true)
        let call = Message.Part.call(ToolCall(id: "a", name: "b", input: [:]))
        #expect(failure([call], .user) { _ in }?.contains("calls in messages with the role user") == true)
    }

    @Test("A refused form is replaced by the other one, once")
    func adapting() throws {
        let words = #""thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive""#
        let refusal = ServerRefusal(message: words)
        let adapted = try #require(AnthropicOptions().adapted(to: refusal, model: "a-proxy's-own"))
        #expect(adapted.thinking == .adaptive)
        #expect(adapted.adapted(to: refusal, model: "a-proxy's-own") == nil)
        let older = ServerRefusal(message: "adaptive thinking is not supported on this model")
        #expect(AnthropicOptions().adapted(to: older, model: "claude-next")?.thinking == .budget)
        let forced = ServerRefusal(message: "Thinking may not be enabled when tool_choice forces tool use.")
        #expect(AnthropicOptions().adapted(to: forced, model: "m")?.schemaWay == .format)
        let large = ServerRefusal(
            message: "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-a")
        #expect(AnthropicOptions().adapted(to: large, model: "claude-next")?.maxTokens == 8192)
        #expect(AnthropicOptions().adapted(to: large, model: "claude-3-5-haiku") == nil)
        #expect(AnthropicOptions().adapted(to: ServerRefusal(message: "no credit"), model: "m") == nil)
    }
}
