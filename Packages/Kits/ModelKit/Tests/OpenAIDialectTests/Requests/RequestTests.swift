import Capabilities
import DialectTesting
import JSON
import ModelKit
import OpenAIDialect
import Testing

@Suite("Requests to OpenAI")
struct RequestTests {
    private func body(
        _ quirks: OpenAIQuirks, model: String = "m", _ change: (inout ChatRequest) -> Void
    ) throws -> JSONObject {
        var request = ChatRequest(model: model, messages: [Message(.user, "hi")])
        change(&request)
        return try OpenAIDialect(quirks).body(of: request)
    }

    @Test("The smallest request streams and asks for usage")
    func smallest() throws {
        let expected: JSONObject = [
            "model": "m", "messages": [["role": "user", "content": "hi"]], "stream": true,
            "stream_options": ["include_usage": true],
        ]
        #expect(try body(.openAI) { _ in } == expected)
        let whole = try body(.openAI) { $0.streams = false }
        #expect(whole.keys == ["model", "messages"])
    }

    @Test("Options have their names, and extras take precedence")
    func options() throws {
        let written = try body(.openAI) {
            $0.options.temperature = 0.5
            $0.options.topP = 0.9
            $0.options.maxTokens = 100
            $0.options.stop = ["END"]
            $0.options.seed = 7
            $0.options.effort = .high
            $0.extras = ["top_p": 1, "session_id": "s"]
        }
        #expect(written["temperature"] == 0.5 && written["top_p"] == 1 && written["max_completion_tokens"] == 100)
        #expect(written["stop"] == ["END"] && written["seed"] == 7 && written["reasoning_effort"] == "high")
        #expect(written["session_id"] == "s")
    }

    @Test(
        "The token limit and the first role have the names that the server and the model expect",
        arguments: [
            (OpenAIQuirks.openAI, "gpt-4o", "max_completion_tokens", "system"),
            (.openAI, "o3-mini", "max_completion_tokens", "developer"),
            (.openAI, "gpt-5", "max_completion_tokens", "developer"),
            (.openRouter, "openai/gpt-5", "max_tokens", "system"),
            (.compatible, "openai/o4-mini", "max_completion_tokens", "system"),
            (.compatible, "olmo-2", "max_tokens", "system"), (.compatible, "gpt-oss-20b", "max_tokens", "system"),
            (.vLLM, "llama", "max_tokens", "system"), (.gateway, "claude", "max_tokens", "system"),
        ])
    func names(_ quirks: OpenAIQuirks, _ model: String, _ limit: String, _ role: String) throws {
        let written = try body(quirks, model: model) {
            $0.options.maxTokens = 5
            $0.messages.insert(Message(.system, "Be brief."), at: 0)
        }
        #expect(written[limit] == 5)
        #expect(written["messages"]?[0] == ["role": .string(role), "content": "Be brief."])
    }

    @Test("OpenRouter gets the effort within `reasoning`")
    func effort() throws {
        let written = try body(.openRouter) { $0.options.effort = .low }
        #expect(written["reasoning"] == ["effort": "low"] && written["reasoning_effort"] == nil)
    }

    @Test("Images and files are data URIs")
    func attachments() throws {
        let written = try body(.openAI) {
            $0.messages = [
                Message(
                    .user,
                    [
                        .text("Look"), .attachment(Attachment(name: "a.png", mediaType: "image/png", bytes: [1, 2])),
                        .attachment(Attachment(name: "b.pdf", mediaType: "application/pdf", bytes: [3])),
                    ])
            ]
        }
        let content: JSON = [
            ["type": "text", "text": "Look"],
            ["type": "image_url", "image_url": ["url": "data:image/png;base64,AQI="]],
            ["type": "file", "file": ["filename": "b.pdf", "file_data": "data:application/pdf;base64,Aw=="]],
        ]
        #expect(written["messages"]?[0] == ["role": "user", "content": content])
    }

    @Test("Calls, results and malformed calls are sent back; finished server-side calls are not")
    func calls() throws {
        let written = try body(.openAI) {
            $0.messages += [
                Message(
                    .assistant,
                    [
                        .reasoning(Reasoning("hm")), .call(ToolCall(id: "a", name: "read", input: ["p": 1])),
                        .malformedCall(MalformedCall(id: "b", name: "read", text: "{", reason: "cut")),
                        .call(ToolCall(id: "z", name: "Bash", input: [:], isDone: true)),
                    ]),
                Message(
                    .tool,
                    [
                        .result(ToolResult(call: "a", content: "text")),
                        .result(ToolResult(call: "b", content: "no JSON", isError: true)),
                        .result(ToolResult(call: "z", content: "done")),
                    ]),
                Message(.assistant, [.call(ToolCall(id: "z", name: "Bash", input: [:], isDone: true))]),
            ]
        }
        let calls: JSON = [
            ["id": "a", "type": "function", "function": ["name": "read", "arguments": #"{"p":1}"#]],
            ["id": "b", "type": "function", "function": ["name": "read", "arguments": #"{"invalid_json":"{"}"#]],
        ]
        let expected: JSON = [
            ["role": "user", "content": "hi"], ["role": "assistant", "content": nil, "tool_calls": calls],
            ["role": "tool", "tool_call_id": "a", "content": "text"],
            ["role": "tool", "tool_call_id": "b", "content": "Error: no JSON"],
        ]
        #expect(written["messages"] == expected)
    }

    @Test("The images of results come from the user after the last result, unless the model has no eyes")
    func resultImages() throws {
        let image = ToolPart.media(Attachment(name: "image", mediaType: "image/png", bytes: [1, 2]))
        let talk = [
            Message(.tool, [.result(ToolResult(call: "a", parts: [.text("see"), image]))]),
            Message(.tool, [.result(ToolResult(call: "b", content: "text"))]), Message(.user, "Well?"),
        ]
        let written = try body(.openAI) { $0.messages = talk }
        let words: JSON = "see\n[image image/png, 2 B]"
        let picture: JSON = ["type": "image_url", "image_url": ["url": "data:image/png;base64,AQI="]]
        #expect(
            written["messages"] == [
                ["role": "tool", "tool_call_id": "a", "content": words],
                ["role": "tool", "tool_call_id": "b", "content": "text"],
                [
                    "role": "user",
                    "content": [
                        ["type": "text", "text": "The images that the tools gave, in their order:"], picture,
                    ],
                ], ["role": "user", "content": "Well?"],
            ])
        var blind = OpenAIQuirks.openAI
        blind.lacks.insert(.images)
        let told = try body(blind) { $0.messages = talk }
        #expect(told["messages"]?.array?.count == 3 && told["messages"]?[0]?["content"] == words)
    }

    @Test("Tools and a schema are sent, and the schema is strict only where OpenAI accepts it")
    func tools() throws {
        let open: JSON = ["type": "object", "properties": ["a": ["type": "string"]]]
        let closed: JSON = [
            "type": "object", "properties": ["a": ["type": "string"]], "required": ["a"], "additionalProperties": false,
        ]
        let written = try body(.openAI) {
            $0.tools = [ToolDescription(name: "read", summary: "Reads", input: open, effect: .reads)]
            $0.schema = AnswerSchema(name: "answer", schema: closed)
        }
        let function: JSON = ["name": "read", "description": "Reads", "parameters": open]
        #expect(written["tools"] == [["type": "function", "function": function]])
        #expect(written["response_format"]?["json_schema"] == ["name": "answer", "schema": closed, "strict": true])
        let loose = try body(.openAI) { $0.schema = AnswerSchema(name: "answer", schema: ["items": open]) }
        #expect(loose["response_format"]?["json_schema"]?["strict"] == false)
    }

    @Test("Reasoning is sent back to OpenRouter unchanged, and to no other server")
    func thoughts() throws {
        let fixture = try Fixture.named("openrouter: comments, thoughts and cost")
        let answer = try hear([fixture.bytes], fixture.quirks).answer
        let written = try body(.openRouter) { $0.messages.append(answer.message) }
        let details: JSON = [
            [
                "type": "reasoning.text", "text": "Let me think.", "format": "anthropic-claude-v1", "index": 0,
                "signature": "c2ln",
            ]
        ]
        #expect(
            written["messages"]?[1] == ["role": "assistant", "content": "Hello", "reasoning_details": details])
        let elsewhere = try body(.openAI) { $0.messages.append(answer.message) }
        #expect(elsewhere["messages"]?[1] == ["role": "assistant", "content": "Hello"])

        // Sealed reasoning of another provider is not sent to OpenRouter.
        let foreign = Message(.assistant, [.reasoning(Reasoning("hm", sealed: "EqQBCg")), .text("ok")])
        let mixed = try body(.openRouter) { $0.messages.append(foreign) }
        #expect(mixed["messages"]?[1] == ["role": "assistant", "content": "ok", "reasoning": "hm"])
    }
}
