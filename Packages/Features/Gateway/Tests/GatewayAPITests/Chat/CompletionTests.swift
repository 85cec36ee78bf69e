import Capabilities
import HTTPCore
import JSON
import Testing

@Suite("Chat completions", .timeLimit(.minutes(5))) struct CompletionTests {
    @Test("A completion has OpenAI's shape and both names for its usage, and is not stored")
    func whole() async throws {
        try await withGateway { gateway in
            let reply = try await gateway.json(.post, "/v1/chat/completions", asking("hello"))
            #expect(reply.reply == "You said: hello")
            #expect(reply["object"] == "chat.completion")
            #expect(reply["model"] == "test/echo")
            #expect(reply["choices"]?[0]?["finish_reason"] == "stop")
            let usage = try #require(reply["usage"])
            #expect(usage["prompt_tokens"] == 12 && usage["input_tokens"] == 12)
            #expect(usage["completion_tokens"] == 3 && usage["output_tokens"] == 3 && usage["total_tokens"] == 15)
            #expect(usage["total_cost"] == 0.0000015)
            #expect(reply["session_id"] == nil)
            #expect(try await gateway.json(.get, "/v1/sessions")["pagination"]?["total_items"] == 0)
            #expect(try await gateway.json(.get, "/v1/usage?by=model")["data"]?[0]?["key"] == "test/echo")
        }
    }

    @Test("A stream starts with the role, has the text, and ends with the reason and [DONE]")
    func streamed() async throws {
        try await withGateway { gateway in
            let frames = try await gateway.frames(asking("hello", "test/many", ["stream": true]))
            #expect(frames.first?["choices"]?[0]?["delta"]?["role"] == "assistant")
            #expect(frames.text == (0..<100).map { "\($0) " }.joined())
            #expect(frames.finish == "stop")
            #expect(Set(frames.map { $0["id"]?.string }).count == 1)
            #expect(frames.allSatisfy { $0["usage"] == nil })
        }
    }

    @Test("A stream reports its usage on request")
    func includeUsage() async throws {
        try await withGateway { gateway in
            let body = asking("hello", "test/echo", ["stream": true, "stream_options": ["include_usage": true]])
            let last = try #require(try await gateway.frames(body).last)
            #expect(last["choices"] == [])
            #expect(last["usage"]?["prompt_tokens"] == 12)
        }
    }

    @Test("Content can be parts, developer messages are system messages, and unknown members are passed on")
    func lenient() async throws {
        try await withGateway { gateway in
            let messages: JSON = [
                ["role": "developer", "content": "Be brief.", "colour": "blue"],
                ["role": "user", "content": [["type": "text", "text": "one "], ["type": "text", "text": "two"]]],
            ]
            let body: JSON = [
                "model": "test/echo", "messages": messages, "colour": "blue", "temperature": 0.5,
                "max_completion_tokens": 7, "tool_choice": "none", "top_k": 5,
            ]
            #expect(try await gateway.json(.post, "/v1/chat/completions", body).reply == "You said: one two")
            let asked = try #require(gateway.model.requests.last)
            #expect(asked.messages.first?.role == .system)
            #expect(asked.options.temperature == 0.5 && asked.options.maxTokens == 7)
            #expect(asked.toolChoice == .never && asked.extras["top_k"] == 5)
        }
    }

    @Test("The client calls its own tools, whole and streamed", arguments: [false, true])
    func tools(streams: Bool) async throws {
        try await withGateway { gateway in
            let tool: JSON = ["type": "function", "function": ["name": "weather", "parameters": ["type": "object"]]]
            // Not even a session makes a request with its own tools an agent turn.
            let body = asking(
                "weather {\"city\":\"Bern\"}", "test/caller", ["tools": [tool], "stream": .bool(streams)])
            let call: JSON?
            if streams {
                let frames = try await gateway.frames(body)
                #expect(frames.finish == "tool_calls")
                call = frames.compactMap { $0["choices"]?[0]?["delta"]?["tool_calls"]?[0] }.first
            } else {
                let reply = try await gateway.json(.post, "/v1/chat/completions", body)
                #expect(reply["choices"]?[0]?["finish_reason"] == "tool_calls")
                #expect(reply["choices"]?[0]?["message"]?["content"]?.isNull == true)
                call = reply["choices"]?[0]?["message"]?["tool_calls"]?[0]
            }
            #expect(call?["id"] == "call-1" && call?["function"]?["name"] == "weather")
            #expect(call?["function"]?["arguments"] == "{\"city\":\"Bern\"}")
        }
    }

    @Test(
        "A model can be named with its provider, alone, or with slashes",
        arguments: ["test/echo", "echo", "test/team/echo"])
    func names(model: String) async throws {
        try await withGateway { gateway in
            let reply = try await gateway.json(.post, "/v1/chat/completions", asking("x", model))
            #expect(reply.reply == "You said: x")
        }
    }
}
