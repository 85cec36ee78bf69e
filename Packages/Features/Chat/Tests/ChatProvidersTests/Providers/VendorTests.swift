import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Vendors", .timeLimit(.minutes(5)))
struct VendorTests {
    static let claude = #"""
        event: message_start
        data: {"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}

        event: ping
        data: {"type":"ping"}

        event: content_block_start
        data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

        event: content_block_delta
        data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}

        event: content_block_stop
        data: {"type":"content_block_stop","index":0}

        event: message_delta
        data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}

        event: message_stop
        data: {"type":"message_stop"}


        """#

    @Test(
        "Anthropic is asked with its own headers, at an address with or without the version",
        arguments: ["", "/", "/v1", "/v1/"])
    func anthropic(path: String) async throws {
        try await Fixture.run(as: "anthropic", path: path) {
            try $0.stream(Self.claude)
        } _: { fixture in
            let answer = try await fixture.heard.ask(fixture.provider())
            #expect(answer.message.text == "Hello")
            #expect(answer.usage.inputTokens == 9)
            #expect(answer.usage.outputTokens == 2)
            let request = try #require(fixture.server.record.requests.first)
            #expect(request.target == "/v1/messages")
            #expect(request.headers["x-api-key"] == Fixture.key)
            #expect(request.headers["Authorization"] == nil)
            #expect(request.headers["anthropic-version"] == "2023-06-01")
            #expect(request.json["max_tokens"]?.int != nil)
        }
    }

    @Test("Only Anthropic receives a client's native request with its betas")
    func native() async throws {
        var request = ChatRequest.hello
        request.native = NativeRequest(.anthropic, members: ["messages", "top_k"])
        request.native?.body = [
            "model": "of the client", "messages": [["role": "user", "content": "as it was"]], "top_k": 3,
        ]
        request.native?.headers = ["anthropic-beta": "one,two"]
        request.native?.query = "beta=true"
        request.extras = ["top_k": 3]
        try await Fixture.run(as: "anthropic") {
            try $0.stream(Self.claude)
        } _: { [request] fixture in
            _ = try await fixture.heard.ask(fixture.provider(), request)
            let asked = try #require(fixture.server.record.requests.first)
            #expect(asked.target == "/v1/messages?beta=true" && asked.headers["anthropic-beta"] == "one,two")
            #expect(asked.json["messages"]?[0]?["content"] == "as it was" && asked.json["top_k"] == 3)
            #expect(asked.json["model"]?.string == request.model)
        }
        try await Fixture.run {
            try $0.stream(Stream.hello)
        } _: { [request] fixture in
            try await fixture.expectHello(request)
            let asked = try #require(fixture.server.record.requests.first)
            #expect(!asked.target.contains("beta") && asked.headers["anthropic-beta"] == nil)
            #expect(asked.json["top_k"] == nil && asked.json["messages"]?[0]?["content"] != "as it was")
        }
    }

    @Test("Embeddings are requested from servers that offer them, and refusals are reported")
    func embeddings() async throws {
        let body: JSONObject = ["model": "v", "input": "a"]
        try await Fixture.run { connection in
            guard connection.number > 0 else {
                return try connection.reply(#"{"object":"list","data":[{"embedding":[1],"index":0}]}"#)
            }
            try connection.reply(429, Stream.error("slow down"))
        } _: { fixture in
            let provider = try await fixture.provider()
            let made = try await provider.embeddings(body)
            #expect(made?["data"]?.array?.count == 1)
            #expect(fixture.server.record.requests.first?.target.hasSuffix("/embeddings") == true)
            let error = await #expect(throws: ChatError.self) { try await provider.embeddings(body) }
            #expect(error?.kind == .rateLimited && error?.status == 429)
        }
        try await Fixture.run(as: "anthropic") { _ in
        } _: { fixture in
            let made = try await fixture.provider().embeddings(body)
            #expect(made == nil)
        }
    }

    @Test("Anthropic is asked again when it fails before any output")
    func anthropicOverloaded() async throws {
        try await Fixture.run(as: "anthropic") { connection in
            guard connection.number > 0 else {
                return try connection.stream(
                    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
                )
            }
            try connection.stream(Self.claude)
        } _: { fixture in
            try await fixture.expectHello()
            #expect(fixture.clock.slept.count == 1)
        }
    }

    @Test("Anthropic behind a proxy that answers a stream with plain JSON is read")
    func anthropicWhole() async throws {
        let body = #"""
            {"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"text","text":"Hello"}],
            "stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":2}}
            """#
        try await Fixture.run(as: "anthropic") {
            try $0.reply(body)
        } _: { fixture in
            try await fixture.expectHello()
        }
    }

    @Test("Anthropic's models are read from several pages")
    func pages() async throws {
        try await Fixture.run(as: "anthropic") { connection in
            let request = try connection.receiveRequest()
            let isSecond = request.target.contains("after_id=claude-a")
            let body =
                isSecond
                ? #"{"data":[{"id":"claude-b","type":"model"}],"has_more":false,"last_id":"claude-b"}"#
                : #"{"data":[{"id":"claude-a","type":"model"}],"has_more":true,"last_id":"claude-a"}"#
            try connection.answer(200, ["Content-Type": "application/json", "Connection": "close"], body)
        } _: { fixture in
            let ids = try await fixture.provider().models().map(\.id)
            #expect(ids == ["claude-a", "claude-b"])
        }
    }

    @Test("OpenRouter receives the program's name unless that is turned off", arguments: [true, false])
    func attribution(isOn: Bool) async throws {
        try await Fixture.run(as: "openrouter", path: "/api/v1") { setup in
            setup.sendsAttribution = isOn
        } _: {
            try $0.stream(": OPENROUTER PROCESSING\n\n" + Stream.hello)
        } _: { fixture in
            try await fixture.expectHello()
            let headers = try #require(fixture.server.record.requests.first).headers
            #expect((headers["X-OpenRouter-Title"] == "Martlet") == isOn)
            #expect((headers["X-Title"] != nil) == isOn)
            #expect(headers["HTTP-Referer"] == nil)
            #expect(fixture.server.record.requests.first?.target == "/api/v1/chat/completions")
        }
    }

    @Test("OpenAI is asked with the Responses API if configured")
    func responses() async throws {
        let events = #"""
            event: response.created
            data: {"type":"response.created","sequence_number":0,"response":{"id":"r1","object":"response","model":"small-1","status":"in_progress","output":[]}}

            event: response.output_item.added
            data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"i1","type":"message","role":"assistant","status":"in_progress","content":[]}}

            event: response.content_part.added
            data: {"type":"response.content_part.added","sequence_number":2,"item_id":"i1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}

            event: response.output_text.delta
            data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"i1","output_index":0,"content_index":0,"delta":"Hello"}

            event: response.completed
            data: {"type":"response.completed","sequence_number":4,"response":{"id":"r1","object":"response","model":"small-1","status":"completed","output":[{"id":"i1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[]}]}],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}}


            """#
        try await Fixture.run { setup in
            setup.usesResponses = true
        } _: {
            try $0.stream(events)
        } _: { fixture in
            let answer = try await fixture.heard.ask(fixture.provider())
            #expect(answer.message.text == "Hello")
            #expect(answer.usage.outputTokens == 2)
            #expect(fixture.server.record.requests.first?.target == "/v1/responses")
        }
    }

    @Test("An unknown model is an error with similar names")
    func unknownModel() async throws {
        try await Fixture.run { connection in
            let request = try connection.receiveRequest()
            let isList = request.method == "GET"
            let body =
                isList
                ? #"{"data":[{"id":"smaller"},{"id":"large"},{"id":"text-embedding-small"}]}"#
                : Stream.error("The model does not exist", code: "\"model_not_found\"")
            try connection.answer(
                isList ? 200 : 404, ["Content-Type": "application/json", "Connection": "close"], body)
        } _: { fixture in
            let error = await #expect(throws: ChatError.self) { try await fixture.heard.ask(fixture.provider()) }
            #expect(error?.kind == .modelNotFound)
            #expect(error?.message.contains("did you mean 'smaller'?") == true)
        }
    }

    @Test("A refused key is an error with the variable to set, and without the key")
    func badKey() async throws {
        try await Fixture.run {
            try $0.reply(401, Stream.error("Incorrect API key provided: \(Fixture.key)", code: "\"invalid_api_key\""))
        } _: { fixture in
            let error = await #expect(throws: ChatError.self) { try await fixture.heard.ask(fixture.provider()) }
            let failure = try #require(error)
            #expect(failure.kind == .keyRefused)
            #expect(failure.exit == .denied)
            #expect(failure.message.contains("set OPENAI_API_KEY"))
            #expect(!failure.message.contains(Fixture.key))
            #expect(!failure.report.text().contains(Fixture.key))
        }
    }

    @Test("An invalid key is not sent, so that no header can be forged")
    func forgedKey() async throws {
        try await Fixture.run(key: "abc\r\nX-Other: 1") {
            try $0.stream(Stream.hello)
        } _: { fixture in
            let error = await #expect(throws: ChatError.self) { try await fixture.heard.ask(fixture.provider()) }
            #expect(error?.kind == .noKey)
            #expect(error?.message.contains("OPENAI_API_KEY") == true)
            #expect(fixture.server.record.connections.isEmpty)
        }
    }

    @Test("An authenticator's key is used, but the vendor's variable takes precedence")
    func authenticator() async throws {
        final class Signer: Authenticator {
            func sign(_ request: inout RequestHead, for server: ServerID) async throws {
                request.headers.append(("Authorization", Secret("Bearer kept-for-\(server.name)")))
            }
            func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool { false }
        }
        for (key, expected) in [(nil, "Bearer kept-for-openai"), ("from-environment", "Bearer from-environment")] {
            try await Fixture.run(key: key) { setup in
                setup.authenticator = Signer()
            } _: {
                try $0.stream(Stream.hello)
            } _: { fixture in
                _ = try await fixture.heard.ask(fixture.provider())
                #expect(fixture.server.record.requests.first?.headers["Authorization"] == expected)
            }
        }
    }

    @Test("No request is sent when the signer refuses, and its error is passed on unchanged")
    func signerRefuses() async throws {
        struct Locked: Error {}
        final class Signer: Authenticator {
            func sign(_ request: inout RequestHead, for server: ServerID) async throws { throw Locked() }
            func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool { false }
        }
        try await Fixture.run(key: nil) { setup in
            setup.authenticator = Signer()
        } _: {
            try $0.stream(Stream.hello)
        } _: { fixture in
            await #expect(throws: Locked.self) { try await fixture.heard.ask(fixture.provider()) }
            #expect(fixture.server.record.connections.isEmpty)
            #expect(fixture.clock.slept.isEmpty)
        }
    }

    @Test("An untrusted certificate is refused unchanged, without a retry")
    func certificate() async throws {
        let certificates = try TestCertificates()
        try await ScriptedServer.run(tls: ScriptedTLS(certificates.selfSigned)) {
            try $0.stream(Stream.hello)
        } during: { server in
            var setup = ProviderSetup(environment: ["OPENAI_BASE_URL": "https://127.0.0.1:\(server.port)/v1"])
            let clock = HastyClock()
            setup.clock = clock
            let provider = try await ProviderDirectory(setup).provider(named: "openai")
            let error = await #expect(throws: HTTPError.self) { try await Heard().ask(provider) }
            #expect(error?.kind == .certificate)
            #expect(error?.certificate != nil)
            #expect(clock.slept.isEmpty)
            await setup.client.close()
        }
    }
}
