import AnthropicDialect
import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import ModelKit
import OpenAIDialect
import ResponsesDialect
import Testing

@Suite("The vendors' own libraries with models of other dialects", .timeLimit(.minutes(5)))
struct VendorTranslationTests {
    /// The request that would be sent to a model's server.
    private static func sent(_ request: ChatRequest) throws -> JSONObject {
        switch request.model {
        case "as-anthropic": try AnthropicDialect().body(of: request)
        case "as-responses": try ResponsesDialect().body(of: request)
        default: try OpenAIDialect().body(of: request)
        }
    }

    private static func ask(_ gateway: TestGateway, _ program: String) async throws -> [String] {
        let head = """
            import os, sys
            os.environ["NO_PROXY"] = "*"
            import anthropic, openai
            o = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key=sys.argv[2], max_retries=0)
            a = anthropic.Anthropic(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)
            hello = [{"role": "user", "content": "hello"}]

            """
        let output = try await PythonPeer.output(source: head + program, [gateway.url, TestGateway.token])
        return output.split(separator: "\n").map(String.init)
    }

    @Test("Tool choice and single calls mean the same in every direction")
    func toolChoice() async throws {
        let program = """
            chat = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
            flat = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
            own = [{"name": "f", "input_schema": {"type": "object"}}]
            for name in ["openai", "anthropic", "responses"]:
                model = "test/as-" + name
                for choice in ["auto", "none", "required", {"type": "function", "function": {"name": "f"}}]:
                    o.chat.completions.create(model=model, messages=hello, tools=chat, tool_choice=choice, parallel_tool_calls=False)
                for choice in [{"type": "auto"}, {"type": "none"}, {"type": "any"}, {"type": "tool", "name": "f"}]:
                    if choice["type"] != "none": choice["disable_parallel_tool_use"] = True
                    a.messages.create(model=model, max_tokens=50, messages=hello, tools=own, tool_choice=choice)
                for choice in ["auto", "none", "required", {"type": "function", "name": "f"}]:
                    o.responses.create(model=model, input="hello", tools=flat, tool_choice=choice, parallel_tool_calls=False)
            """
        try await withGateway { gateway in
            _ = try await Self.ask(gateway, program)
            let expected: [(String, [JSON], Bool)] = [
                ("as-openai", ["auto", "none", "required", ["type": "function", "function": ["name": "f"]]], true),
                (
                    "as-anthropic",
                    [
                        ["type": "auto", "disable_parallel_tool_use": true], ["type": "none"],
                        ["type": "any", "disable_parallel_tool_use": true],
                        ["type": "tool", "name": "f", "disable_parallel_tool_use": true],
                    ], false
                ), ("as-responses", ["auto", "none", "required", ["type": "function", "name": "f"]], true),
            ]
            #expect(gateway.model.requests.count == 36)
            for (model, choices, isMember) in expected {
                let bodies = try gateway.model.requests.filter { $0.model == model }.map(Self.sent)
                #expect(bodies.map { $0["tool_choice"] } == choices + choices + choices)
                #expect(bodies.allSatisfy { $0["tools"]?.array?.count == 1 })
                for (number, body) in bodies.enumerated() where isMember {
                    // Anthropic cannot express it together with none.
                    #expect(body["parallel_tool_calls"] == (number == 5 ? nil : .bool(false)), "\(model) \(number)")
                }
            }
        }
    }

    @Test("Members that the other server does not support are dropped and reported, or refused by name")
    func members() async throws {
        let program = """
            def told(answer): print("dropped", answer.headers.get("x-martlet-dropped"))
            def refused(what):
                try: what()
                except (openai.APIStatusError, anthropic.APIStatusError) as error:
                    print("refused", error.status_code, error.response.json()["error"]["param"])
            complete, message = o.chat.completions.with_raw_response.create, a.messages.with_raw_response.create
            told(complete(model="test/as-anthropic", messages=hello, seed=1, user="ada", temperature=0.5, reasoning_effort="low"))
            told(complete(model="test/as-openai", messages=hello, seed=1, user="ada"))
            told(message(model="test/as-openai", max_tokens=5, messages=hello, metadata={"user_id": "device"},
                extra_body={"top_k": 3, "context_management": {"edits": []}}))
            told(message(model="test/as-anthropic", max_tokens=5, messages=hello, metadata={"user_id": "device"}))
            told(complete(model="test/as-anthropic", messages=[{"role": "assistant", "content": ""}] + hello))
            call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            done = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": "ok"}]
            told(complete(model="test/as-anthropic", messages=hello + done, reasoning_effort="low"))
            refused(lambda: complete(model="test/as-anthropic", messages=hello, logit_bias={"5": 1}))
            refused(lambda: complete(model="test/as-openai", messages=hello, logprobs=True))
            refused(lambda: message(model="test/as-openai", max_tokens=5, messages=hello, extra_body={"mcp_servers": [{"url": "http://a"}]}))
            refused(lambda: message(model="test/as-openai", max_tokens=5, messages=hello, tools=[{"type": "bash_20250124", "name": "bash"}]))
            refused(lambda: o.responses.create(model="test/as-openai", input="hello", background=True))
            """
        try await withGateway { gateway in
            let told = try await Self.ask(gateway, program)
            #expect(
                told == [
                    "dropped seed, user, temperature", "dropped None", "dropped metadata, top_k, context_management",
                    "dropped None", "dropped messages[0]", "dropped reasoning_effort",
                    "refused 400 logit_bias", "refused 400 logprobs",
                    "refused 400 mcp_servers", "refused 400 tools[0].type", "refused 400 background",
                ])
            let bodies = try gateway.model.requests.map(Self.sent)
            #expect(bodies.count == 6 && bodies[5]["thinking"] == nil)
            #expect(bodies[0]["seed"] == nil && bodies[0]["user"] == nil && bodies[0]["thinking"] != nil)
            #expect(bodies[1]["seed"] == 1 && bodies[1]["user"] == "ada")
            #expect(bodies[2]["metadata"] == nil && bodies[2]["top_k"] == nil && bodies[2]["context_management"] == nil)
            #expect(bodies[3]["metadata"] == ["user_id": "device"])
            #expect(gateway.model.requests.allSatisfy { !$0.repeats })
        }
    }

    @Test("The name of a member cannot inject a header line")
    func hostileNames() async throws {
        try await withGateway { gateway in
            let body = asking("x", "test/as-anthropic", ["a\r\nX-Own: 1": 1, "ä": 2])
            let answer = try await gateway.send(.post, "/v1/chat/completions", body)
            #expect(answer.headers["X-Martlet-Dropped"] == "a??X-Own:?1, ?")
            #expect(answer.headers["X-Own"] == nil)
        }
    }

    @Test("A request in Anthropic's dialect goes to Anthropic's servers unchanged, with its betas")
    func unchanged() async throws {
        let program = """
            print(a.beta.messages.create(
                model="test/as-anthropic", max_tokens=3000, betas=["context-management-2025-06-27", "b"], extra_query={"beta": "true"},
                system=[{"type": "text", "text": "one", "cache_control": {"type": "ephemeral", "ttl": "1h"}}, {"type": "text", "text": "two"}],
                thinking={"type": "enabled", "budget_tokens": 2000}, context_management={"edits": []},
                tools=[{"name": "f", "input_schema": {"type": "object"}, "defer_loading": True}, {"type": "web_search_20250305", "name": "web_search"}],
                messages=hello + [{"role": "assistant", "content": [{"type": "text", "text": "a"}]}, {"role": "user", "content": [
                    {"type": "image", "source": {"type": "url", "url": "http://a/b.png"}},
                    {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}]}, {"role": "system", "content": "late"}]).content[0].text)
            """
        try await withGateway { gateway in
            let told = try await Self.ask(gateway, program)
            #expect(told == ["You said: hello | b"])
            let request = try #require(gateway.model.requests.last)
            let body = try Self.sent(request)
            #expect(request.native?.headers == ["anthropic-beta": "context-management-2025-06-27,b"])
            #expect(request.native?.query == "beta=true")
            #expect(body["model"] == "as-anthropic" && body["max_tokens"] == 3000)
            #expect(body["system"]?[0]?["cache_control"] == ["type": "ephemeral", "ttl": "1h"])
            #expect(body["system"]?.array?.count == 2 && body["context_management"] == ["edits": []])
            #expect(body["thinking"] == ["type": "enabled", "budget_tokens": 2000])
            #expect(body["tools"]?[0]?["defer_loading"] == true)
            #expect(body["tools"]?[1] == ["type": "web_search_20250305", "name": "web_search"])
            #expect(body["messages"]?.array?.count == 4 && body["messages"]?[3]?["role"] == "system")
            #expect(body["messages"]?[2]?["content"]?[0]?["source"]?["type"] == "url")
        }
    }

    @Test("A thread is refused in a way that makes the library continue without it")
    func threads() async throws {
        let program = """
            for model in ["test/as-openai", "test/signs"]:
                try: a.beta.messages.create(model=model, max_tokens=5, messages=hello, extra_body={"thread": {"type": "create"}})
                except anthropic.BadRequestError as error: print(error.body["error"]["details"]["error_code"])
            @anthropic.beta_tool
            def f(x: str) -> str:
                "Does it."
                return "done"
            question = [{"role": "user", "content": 'f {"x":"1"}'}]
            runner = a.beta.messages.tool_runner(model="test/caller", max_tokens=50, messages=question, tools=[f])
            print(runner.until_done().content[0].text)
            """
        try await withGateway { gateway in
            let told = try await Self.ask(gateway, program)
            #expect(
                told == [
                    "thread_unsupported_request", "thread_unsupported_request", #"You said: f {"x":"1"}"#,
                ])
        }
    }

    @Test("Reasoning is streamed with its signatures and comes back with the results of tools")
    func thinking() async throws {
        let program = """
            tools = [{"name": "f", "input_schema": {"type": "object"}}]
            think = {"type": "enabled", "budget_tokens": 1024}
            with a.messages.stream(model="test/signs", max_tokens=3000, messages=hello, tools=tools, thinking=think) as stream:
                for event in stream:
                    if event.type == "message_start": print("start", event.message.usage.input_tokens)
                answer = stream.get_final_message()
            print([(b.type, getattr(b, "signature", None) or getattr(b, "data", None)) for b in answer.content])
            result = {"type": "tool_result", "tool_use_id": answer.content[2].id, "content": "ok"}
            more = hello + [{"role": "assistant", "content": answer.content}, {"role": "user", "content": [result]}]
            a.messages.create(model="test/as-anthropic", max_tokens=3000, messages=more, tools=tools, thinking=think)
            """
        try await withGateway { gateway in
            let told = try await Self.ask(gateway, program)
            #expect(
                told == [
                    "start 12", "[('thinking', 'sig'), ('redacted_thinking', 'closed'), ('tool_use', None)]",
                ])
            let request = try #require(gateway.model.requests.last)
            #expect(request.options.thinking == .tokens(1024))
            let blocks = try Self.sent(request)["messages"]?[1]?["content"]
            #expect(blocks?[0]?["signature"] == "sig" && blocks?[1]?["data"] == "closed")
        }
    }

    @Test("An empty answer is valid in every dialect, whole and streamed")
    func empty() async throws {
        let program = """
            whole = o.chat.completions.create(model="test/mute", messages=hello)
            print(repr(whole.choices[0].message.content), whole.choices[0].finish_reason)
            print([c.choices[0].finish_reason for c in o.chat.completions.create(model="test/mute", messages=hello, stream=True)][-1])
            print(a.messages.create(model="test/mute", max_tokens=5, messages=hello).stop_reason)
            with a.messages.stream(model="test/mute", max_tokens=5, messages=hello) as stream: print(stream.get_final_message().content)
            print(o.responses.create(model="test/mute", input="hello").status)
            """
        try await withGateway { gateway in
            let told = try await Self.ask(gateway, program)
            #expect(told == ["'' stop", "stop", "end_turn", "[]", "completed"])
        }
    }

    @Test("A failure before the first word has the upstream server's status and Retry-After, also for a stream")
    func failures() async throws {
        let program = """
            def failed(what):
                try:
                    for _ in what(): pass
                except (openai.APIStatusError, anthropic.APIStatusError) as error:
                    headers = error.response.headers
                    print(error.status_code, error.type if hasattr(error, "type") else error.body["error"]["type"],
                        headers.get("retry-after"), headers.get("x-should-retry"))
            for streams in [False, True]:
                failed(lambda: o.chat.completions.create(model="test/later", messages=hello, stream=streams))
                failed(lambda: a.messages.create(model="test/overloaded", max_tokens=5, messages=hello, stream=streams))
                failed(lambda: o.responses.create(model="test/refused", input="hello", stream=streams))
            try: o.chat.completions.create(model="test/long", messages=hello)
            except openai.BadRequestError as error: print(error.code)
            """
        try await withGateway { gateway in
            let lines = [
                "429 rate_limit_error 7 None", "529 overloaded_error 7 None", "502 api_error None false",
            ]
            let told = try await Self.ask(gateway, program)
            #expect(told == lines + lines + ["context_length_exceeded"])
        }
    }

    @Test("Every response has a request id, and embeddings work")
    func idsAndVectors() async throws {
        let program = """
            print(bool(o.chat.completions.create(model="test/echo", messages=hello)._request_id))
            print(bool(a.messages.create(model="test/echo", max_tokens=5, messages=hello)._request_id))
            try: a.messages.create(model="none", max_tokens=5, messages=hello)
            except anthropic.APIStatusError as error: print(bool(error.request_id))
            made = o.embeddings.create(model="test/vectors", input=["a", "b"], encoding_format="float")
            print(len(made.data), made.data[1].embedding, made.model, made.usage.prompt_tokens)
            for model in ["test/echo", "none"]:
                try: o.embeddings.create(model=model, input="a")
                except openai.NotFoundError as error: print(error.code)
            """
        try await withGateway { gateway in
            let told = try await Self.ask(gateway, program)
            #expect(
                told == [
                    "True", "True", "True", "2 [0.5, -1.0] test/vectors 4", "model_not_found", "model_not_found",
                ])
            let sums = try await gateway.json(.get, "/v1/usage?by=model")["data"]?.array ?? []
            #expect(sums.contains { $0["key"] == "test/vectors" && $0["input_tokens"] == 4 })
        }
    }

    @Test("An unlisted model can be asked by provider and name and is in no list")
    func unlisted() async throws {
        let program = """
            print(o.chat.completions.create(model="test/as-openai", messages=hello).choices[0].message.content)
            print("test/as-openai" in [m.id for m in o.models.list()])
            """
        try await withGateway { gateway in
            let told = try await Self.ask(gateway, program)
            #expect(told == ["You said: hello", "False"])
        }
    }
}
