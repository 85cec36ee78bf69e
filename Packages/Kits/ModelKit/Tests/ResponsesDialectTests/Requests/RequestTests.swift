import Capabilities
import DialectTesting
import JSON
import ModelKit
import ResponsesDialect
import Testing

@Suite("Requests to the Responses API")
struct RequestTests {
    private func body(_ model: String = "gpt-4o", _ change: (inout ChatRequest) -> Void) throws -> JSONObject {
        var request = ChatRequest(model: model, messages: [Message(.user, "a")])
        change(&request)
        return try ResponsesDialect().body(of: request)
    }

    @Test("A result with an image is a list of its words and the image")
    func resultImages() throws {
        let image = ToolPart.media(Attachment(name: "image", mediaType: "image/png", bytes: [1]))
        let result = ToolResult(call: "c", parts: [.text("see"), image])
        let body = try body { $0.messages = [Message(.tool, [.result(result)])] }
        let output: JSON = [
            ["type": "input_text", "text": "see\n[image image/png, 1 B]"],
            ["type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AQ=="],
        ]
        #expect(body["input"] == [["type": "function_call_output", "call_id": "c", "output": output]])
    }

    @Test("Messages, reasoning, calls and results are items, and the system prompt is separate")
    func items() throws {
        let sealed = #"{"type":"reasoning","id":"r","summary":[],"encrypted_content":"x"}"#
        let messages = [
            Message(.system, "Be brief."), Message(.user, "Read."),
            Message(
                .assistant,
                [
                    .reasoning(Reasoning("hm", sealed: sealed)), .reasoning(Reasoning("another's", signature: "s")),
                    .reasoning(Reasoning("", sealed: "EmwKAhgB")), .text("Yes."), .refusal("No."),
                    .call(ToolCall(id: "c1", name: "read", input: ["p": 1])),
                    .malformedCall(MalformedCall(id: "c2", name: "read", text: "{", reason: "cut")),
                    .call(ToolCall(id: "s", name: "web_search", input: [:], isDone: true)),
                    .result(ToolResult(call: "s", content: "found")),
                ]),
            Message(
                .tool,
                [
                    .result(ToolResult(call: "c1", content: "text")),
                    .result(ToolResult(call: "c2", content: "bad", isError: true)),
                    .attachment(Attachment(name: "i", mediaType: "image/png", bytes: [1])),
                ]), Message(.system, "Be kind."),
        ]
        let body = try body { $0.messages = messages }
        #expect(body["instructions"] == "Be brief.\n\nBe kind." && body["store"] == false && body["stream"] == true)
        func call(_ id: String, _ input: JSON) -> JSON {
            ["type": "function_call", "call_id": .string(id), "name": "read", "arguments": input]
        }
        func output(_ id: String, _ words: JSON) -> JSON {
            ["type": "function_call_output", "call_id": .string(id), "output": words]
        }
        let image: JSON = ["type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AQ=="]
        let expected: [JSON] = [
            ["role": "user", "content": [["type": "input_text", "text": "Read."]]],
            ["type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"],
            ["role": "assistant", "content": "Yes."], ["role": "assistant", "content": "No."],
            call("c1", #"{"p":1}"#), call("c2", #"{"invalid_json":"{"}"#), output("c1", "text"),
            output("c2", "Error: bad"), ["role": "user", "content": [image]],
        ]
        #expect(body["input"] == .array(expected))
    }

    @Test("Reasoning models are asked for their reasoning, with the given effort")
    func thoughts() throws {
        let include: JSON? = ["reasoning.encrypted_content"]
        for (model, thinks) in [("gpt-5-mini", true), ("o3", true), ("openai/gpt-5.2", true), ("gpt-4o", false)] {
            #expect(try body(model) { _ in }["include"] == (thinks ? include : JSON?.none), "\(model)")
        }
        let effort = try body("gpt-5") { $0.options.effort = .low }
        #expect(effort["reasoning"] == ["effort": "low", "summary": "auto"])
    }

    @Test("A refused part is left out, once")
    func adapting() throws {
        let verify = ServerRefusal(message: "Your organization must be verified to generate reasoning summaries.")
        let adapted = try #require(ResponsesOptions().adapted(to: verify))
        #expect(!adapted.wantsSummaries && adapted.adapted(to: verify) == nil)
        let sealed = ServerRefusal(message: "Encrypted content is not supported with this model.", field: "include")
        #expect(ResponsesOptions().adapted(to: sealed)?.returnsReasoning == false)
        #expect(ResponsesOptions().adapted(to: ServerRefusal(message: "no credit")) == nil)
    }

    @Test("Tools, a schema, options and extras are written")
    func options() throws {
        let strict: JSON = ["type": "object", "properties": [:], "additionalProperties": false]
        let body = try body {
            $0.tools = [ToolDescription(name: "t", summary: "s", input: ["type": "object"], effect: .reads)]
            $0.schema = AnswerSchema(name: "n", schema: strict)
            ($0.options.temperature, $0.options.topP, $0.options.maxTokens) = (0.5, 0.9, 7)
            ($0.streams, $0.extras) = (false, ["user": "ada"])
        }
        let tool: JSON = [
            "type": "function", "name": "t", "description": "s", "parameters": ["type": "object"], "strict": false,
        ]
        #expect(body["tools"] == [tool])
        let format: JSON = ["type": "json_schema", "name": "n", "schema": strict, "strict": true]
        #expect(body["text"] == ["format": format])
        #expect(body["temperature"] == 0.5 && body["top_p"] == 0.9 && body["max_output_tokens"] == 7)
        #expect(body["stream"] == nil && body["user"] == "ada")
    }

    @Test("An unsupported option is refused by name")
    func unsupported() {
        func failure(_ change: (inout ChatRequest) -> Void) -> String? {
            let error = #expect(throws: DialectError.self) { try body("gpt-5", change) }
            #expect(error?.kind == .unsupported)
            return error?.message
        }
        #expect(failure { $0.options.stop = ["END"] }?.contains("stop sequences") == true)
        #expect(failure { $0.options.seed = 1 }?.contains("seed") == true)
        let image = Message.Part.attachment(Attachment(name: "a", mediaType: "image/png", bytes: []))
        #expect(failure { $0.messages = [Message(.system, [image])] }?.contains("system") == true)
        #expect(failure { $0.messages = [Message(.assistant, [image])] }?.contains("assistant") == true)
        let call = Message.Part.call(ToolCall(id: "a", name: "b", input: [:]))
        #expect(failure { $0.messages = [Message(.user, [call])] }?.contains("role user") == true)
    }
}
