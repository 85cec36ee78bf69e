import Capabilities
import JSON
import RPCKit
import Testing

@testable import MCPKit

/// Each test has the name of a scenario of the protocol's own conformance suite for servers, and checks what it checks.
/// Those of `tasks-*` are about an extension that our server does not offer.
@Suite("Scenarios for servers", .timeLimit(.minutes(2)))
struct ServerScenarioTests {
    private static let eras = [MCPVersion.november2025, .july2026]

    /// Our client with a handler that keeps the questions.
    private func withClient(
        _ version: MCPVersion, _ handler: TestHandler, _ body: @escaping @Sendable (MCPClient) async throws -> Void
    ) async throws {
        try await TestServers.paired(MCPServer(ScenarioService())) { channel in
            let client = MCPClient(
                of: "scenarios", over: StreamTransport(channel), as: Peers.identity, handler: handler,
                knowing: version.isModern ? nil : version)
            try await client.whileRunning { try await body(client) }
        }
    }

    // MARK: Life

    @Test("server-initialize")
    func initialize() async throws {
        try await ScenarioHost.with { host in
            let params: JSONObject = [
                "protocolVersion": "2025-11-25", "capabilities": [:],
                "clientInfo": ["name": "conformance", "version": "1"],
            ]
            let opening: JSON = ["jsonrpc": "2.0", "id": 1, "method": "initialize", "params": .object(params)]
            let answer = try await RawHTTP.ask(host.port, "POST", opening)
            let result = try answer.json["result"]
            #expect(answer.status == 200 && result?["protocolVersion"] == "2025-11-25")
            #expect(result?["serverInfo"]?["name"] == "scenarios" && result?["capabilities"]?["tools"] != nil)
        }
    }

    @Test("server-session-lifecycle")
    func session() async throws {
        try await ScenarioHost.with { host async throws in
            let mine: KeyValuePairs = ["Mcp-Session-Id": host.session]
            let list: JSON = ["jsonrpc": "2.0", "id": 2, "method": "tools/list"]
            #expect(try await RawHTTP.ask(host.port, "POST", list, mine).status == 200)
            #expect(try await RawHTTP.ask(host.port, "DELETE", nil, mine).status.map { $0 / 100 } == 2)
            #expect(try await RawHTTP.ask(host.port, "POST", list, mine).status == 404)
        }
    }

    @Test("server-stateless")
    func stateless() async throws {
        try await ScenarioHost.with { host in
            func ask(_ method: String, _ params: JSON, _ more: KeyValuePairs<String, String> = [:]) async throws
                -> (Int?, JSON)
            {
                let answer = try await RawHTTP.askModern(host.port, method, params, id: "mine", more)
                return (answer.status, try answer.json)
            }
            let (_, discovered) = try await ask("server/discover", .modern())
            #expect(discovered["result"]?["supportedVersions"]?.array?.contains("2026-07-28") == true)
            #expect(
                discovered["result"]?["_meta"]?["io.modelcontextprotocol/serverInfo"]?["name"] == "scenarios")
            for member in ["tools", "prompts", "resources"] {
                #expect(discovered["result"]?["capabilities"]?[member] != nil)
                #expect(try await ask("\(member)/list", .modern()).0 == 200)
            }
            let cases:
                [(method: String, params: JSON, headers: KeyValuePairs<String, String>, status: Int, code: JSON)] =
                    [
                        ("tools/list", [:], [:], 400, -32602),
                        (
                            "tools/list", .modern(version: "1999-01-01"), ["MCP-Protocol-Version": "1999-01-01"], 400,
                            -32022
                        ),
                        ("tools/list", .modern(), ["MCP-Protocol-Version": "2025-11-25"], 400, -32020),
                        ("no/such/method", .modern(), [:], 404, -32601), ("ping", .modern(), [:], 404, -32601),
                        ("logging/setLevel", .modern(["level": "info"]), [:], 404, -32601),
                        ("tools/call", .modern(["name": "test_sampling"], capabilities: [:]), [:], 400, -32021),
                    ]
            for (method, params, headers, status, code) in cases {
                let (got, answer) = try await ask(method, params, headers)
                #expect(
                    got == status && answer["error"]?["code"] == code && answer["id"] == "mine", "\(method): \(answer)")
            }
            let quiet = try await host.messages("tools/call", ["name": "test_logging"], .july2026)
            #expect(quiet.count == 1)
        }
    }

    @Test("ping")
    func ping() async throws {
        try await ScenarioHost.with { host async throws in #expect(try await host.result("ping", .november2025) == [:])
        }
    }

    @Test("logging-set-level")
    func setLevel() async throws {
        try await ScenarioHost.with { host async throws in
            #expect(try await host.result("logging/setLevel", ["level": "info"], .november2025) == [:])
            #expect(
                try await host.message("logging/setLevel", ["level": "loud"], .november2025)["error"]?["code"] == -32602
            )
        }
    }

    @Test("completion-complete", arguments: eras)
    func complete(version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            let params: JSONObject = [
                "ref": ["type": "ref/prompt", "name": "test_prompt_with_arguments"],
                "argument": ["name": "arg1", "value": "par"],
            ]
            let values = try await host.result("completion/complete", params, version)["completion"]?["values"]
            #expect(values == ["paris", "park", "party"])
        }
    }

    // MARK: Tools

    @Test("tools-list", arguments: eras)
    func tools(version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            let tools = try await host.result("tools/list", version)["tools"]?.array ?? []
            #expect(tools.count == ScenarioService.names.count + 1)
            #expect(
                tools.allSatisfy { $0["name"]?.string != nil && $0["description"]?.string != nil }
                    && tools.allSatisfy { $0["inputSchema"]?["type"] == "object" })
        }
    }

    @Test("json-schema-2020-12", arguments: eras)
    func schema(version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            let tools = try await host.result("tools/list", version)["tools"]?.array ?? []
            let tool = tools.first { $0["name"] == "json_schema_2020_12_tool" }
            #expect(tool?["inputSchema"] == ScenarioService.schema)
        }
    }

    /// A scenario whose tool answers with some parts.
    struct Content: CustomTestStringConvertible {
        let testDescription: String
        let tool: String
        let parts: [JSON]

        private static let image: JSON = ["type": "image", "data": "iVBORw==", "mimeType": "image/png"]
        private static let resource: JSON = [
            "type": "resource",
            "resource": ["uri": "test://embedded", "mimeType": "text/plain", "text": "embedded"],
        ]
        static let all = [
            Content(
                testDescription: "tools-call-simple-text", tool: "simple_text",
                parts: [["type": "text", "text": "simple"]]),
            Content(testDescription: "tools-call-image", tool: "image_content", parts: [image]),
            Content(
                testDescription: "tools-call-audio", tool: "audio_content",
                parts: [["type": "audio", "data": "AQID", "mimeType": "audio/wav"]]),
            Content(testDescription: "tools-call-embedded-resource", tool: "embedded_resource", parts: [resource]),
            Content(
                testDescription: "tools-call-mixed-content", tool: "multiple_content_types",
                parts: [["type": "text", "text": "several"], image, resource]),
        ]
    }

    @Test("tools-call-*", arguments: Content.all, eras)
    func content(_ content: Content, version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            let result = try await host.call(content.tool, [:], version)["result"]
            #expect(result?["content"]?.array == content.parts && result?["isError"]?.bool != true)
        }
    }

    @Test("tools-call-error", arguments: eras)
    func error(version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            let answer = try await host.call("error", [:], version)
            #expect(answer["error"] == nil && answer["result"]?["isError"] == true)
            #expect(answer["result"]?["content"]?[0]?["text"]?.string?.isEmpty == false)
            #expect(try await host.call("nothing", [:], version)["error"]?["code"] == -32602)
        }
    }

    @Test("tools-call-with-logging", arguments: eras)
    func logging(version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            if !version.isModern { _ = try await host.result("logging/setLevel", ["level": "debug"], version) }
            let meta: JSON = version.isModern ? ["io.modelcontextprotocol/logLevel": "debug"] : [:]
            let told = try await host.messages("tools/call", ["name": "test_logging", "_meta": meta], version)
            let logs = told.filter { $0["method"] == "notifications/message" }
            #expect(logs.compactMap { $0["params"]?["data"] } == ["started", "processing", "completed"])
            #expect(told.last?["result"]?["content"]?[0]?["text"] == "logged")
        }
    }

    @Test("tools-call-with-progress", arguments: eras)
    func progress(version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            let params: JSONObject = ["name": "test_progress", "_meta": ["progressToken": "p"]]
            let told = try await host.messages("tools/call", params, version)
            let steps = told.filter { $0["method"] == "notifications/progress" }.compactMap { $0["params"] }
            #expect(steps.map { $0["progress"]?.double } == [0, 50, 100])
            #expect(steps.allSatisfy { $0["progressToken"] == "p" && $0["total"]?.double == 100 })
        }
    }

    @Test("tools-call-sampling", arguments: eras)
    func sampling(version: MCPVersion) async throws {
        try await withClient(version, TestHandler()) { client in
            let result = try await client.call("test_sampling", ["prompt": "hello"])
            #expect(result.parts == [.text("LLM response: sampled: hello")])
        }
    }

    @Test("tools-call-elicitation", arguments: eras)
    func elicitation(version: MCPVersion) async throws {
        for (answer, text) in [
            (MCPAnswer.accept(["a": 1]), #"accept {"a":1}"#), (.decline, "decline"), (.cancel, "cancel"),
        ] {
            try await withClient(version, TestHandler(answering: answer)) { client async throws in
                #expect(try await client.call("test_elicitation").parts == [.text(text)])
            }
        }
    }

    @Test("elicitation-sep1034-defaults, elicitation-sep1330-enums", arguments: eras)
    func forms(version: MCPVersion) async throws {
        let handler = TestHandler()
        try await withClient(version, handler) { client async throws in
            for tool in ["test_defaults", "test_enums"] {
                #expect(try await client.call(tool).parts == [.text("decline")])
            }
        }
        let schemas = handler.questions.map { question -> JSON? in
            if case .form(_, let schema) = question { schema } else { nil }
        }
        #expect(schemas == [ScenarioService.defaults, ScenarioService.enums])
    }

    // MARK: Resources

    @Test("resources-list", arguments: eras)
    func resources(version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            let listed = try await host.result("resources/list", version)["resources"]?.array
            #expect(listed?.compactMap { $0["uri"] } == ["test://static-text", "test://static-binary"])
            #expect(listed?.allSatisfy { $0["name"]?.string != nil } == true)
        }
    }

    @Test("resources-read-text, resources-read-binary, resources-templates-read", arguments: eras)
    func read(version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            let contents: [JSON] = [
                ["uri": "test://static-text", "mimeType": "text/plain", "text": "static"],
                ["uri": "test://static-binary", "mimeType": "image/png", "blob": "iVBORw=="],
                ["uri": "test://template/123/data", "mimeType": "application/json", "text": #"{"id":"123"}"#],
            ]
            for content in contents {
                let result = try await host.result("resources/read", ["uri": content["uri"] ?? nil], version)
                #expect(result["contents"] == [content])
            }
            let templates = try await host.result("resources/templates/list", version)["resourceTemplates"]
            #expect(templates?[0]?["uriTemplate"] == "test://template/{id}/data")
        }
    }

    @Test("sep-2164-resource-not-found")
    func notFound() async throws {
        try await ScenarioHost.with { host in
            let modern = try await host.message("resources/read", ["uri": "test://none"], .july2026)
            #expect(modern["error"]?["code"] == -32602 && modern["result"] == nil)
            #expect(modern["error"]?["data"]?["uri"] == "test://none")
            let legacy = try await host.message("resources/read", ["uri": "test://none"], .november2025)
            #expect(legacy["error"]?["code"] == -32002 && legacy["result"] == nil)
        }
    }

    @Test("resources-subscribe, resources-unsubscribe")
    func subscribe() async throws {
        try await ScenarioHost.with { host async throws in
            for method in ["resources/subscribe", "resources/unsubscribe"] {
                #expect(try await host.result(method, ["uri": "test://static-text"], .november2025) == [:])
            }
        }
    }

    // MARK: Prompts

    @Test("prompts-list", arguments: eras)
    func prompts(version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            let listed = try await host.result("prompts/list", version)["prompts"]?.array
            #expect(listed?.count == 5 && listed?[1]["arguments"]?[0] == ["name": "arg1", "required": true])
        }
    }

    @Test("prompts-get-simple, -with-args, -embedded-resource, -with-image", arguments: eras)
    func prompt(version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            func get(_ name: String, _ arguments: JSON = [:]) async throws -> JSON? {
                let result = try await host.result(
                    "prompts/get", ["name": .string(name), "arguments": arguments], version)
                #expect(result["messages"]?[0]?["role"] == "user")
                return result["messages"]?[0]?["content"]
            }
            #expect(try await get("test_simple_prompt") == ["type": "text", "text": "simple"])
            let filled = try await get("test_prompt_with_arguments", ["arg1": "a", "arg2": "b"])
            #expect(filled?["text"] == "a b")
            #expect(try await get("test_prompt_with_embedded_resource")?["resource"]?["text"] == "embedded")
            #expect(try await get("test_prompt_with_image")?["mimeType"] == "image/png")
        }
    }
}
