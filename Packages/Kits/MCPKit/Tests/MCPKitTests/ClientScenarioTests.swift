import Capabilities
import HTTPCore
import HTTPTesting
import JSON
import Synchronization
import Testing

@testable import MCPKit

/// Each test has the name of a scenario of the protocol's own conformance suite for clients, and checks what it checks.
/// Those of `auth/*` are about signing in, and `elicitation-sep1034-client-defaults` about forms; neither is part of a kit.
@Suite("Scenarios for clients", .timeLimit(.minutes(2)))
struct ClientScenarioTests {
    private static let prefix = "io.modelcontextprotocol/"

    @Test("initialize")
    func initialize() async throws {
        let script = ScriptedMCP.legacy { request, connection in
            try connection.answer(request, #"{"tools":[]}"#)
        }
        try await ScriptedMCP.run(script) { address, server in
            try await address.with { client in
                #expect(try await client.server().version == .november2025)
                _ = try await client.tools()
            }
            let requests = try server.record.requests.map(MCPRequest.init)
            let opening = try #require(requests.first { $0.method == "initialize" })
            #expect(opening.json["params"]?["protocolVersion"] == "2025-11-25")
            #expect(opening.json["params"]?["clientInfo"]?["name"] == "tests")
            #expect(opening.json["params"]?["capabilities"]?.object != nil)
            let methods = requests.map(\.method)
            let end = try #require(methods.firstIndex(of: "notifications/initialized"))
            #expect(end < (try #require(methods.firstIndex(of: "tools/list"))))
        }
    }

    @Test("tools_call")
    func call() async throws {
        let script = ScriptedMCP.modern { request, connection in
            if request.method == "tools/list" {
                return try connection.answer(
                    request,
                    #"{"tools":[{"name":"add_numbers","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}}]}"#
                )
            }
            let sum = (request.arguments?["a"]?.double ?? 0) + (request.arguments?["b"]?.double ?? 0)
            try connection.answerCall(request, "The sum is \(Int(sum))")
        }
        try await ScriptedMCP.run(script) { address, _ in
            try await address.with { client in
                let tool = try #require(try await client.tools().first)
                #expect(try await client.call(tool.name, ["a": 5, "b": 3]).parts == [.text("The sum is 8")])
            }
        }
    }

    @Test("sse-retry")
    func retry() async throws {
        let times = Mutex<[ContinuousClock.Instant]>([])
        let legacy = ScriptedMCP.legacy { _, connection in
            try connection.beginEvents()
            try connection.send("id: event-1\nretry: 500\ndata:\n\n")
            times.withLock { $0.append(.now) }
            throw ScriptError.stopped
        }
        let script: ScriptedMCP.Script = { request, connection in
            guard request.method == "GET", request.http.headers["Last-Event-ID"] == "event-1" else {
                return try legacy(request, connection)
            }
            times.withLock { $0.append(.now) }
            try connection.beginEvents()
            try connection.send(
                "data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\(ScriptedConnection.result("late"))}\n\n")
            throw ScriptError.stopped
        }
        try await ScriptedMCP.run(script) { address, _ in
            try await address.with { client async throws in #expect(try await client.call("t").parts == [.text("late")])
            }
        }
        let seen = times.withLock { $0 }
        #expect(seen.count == 2 && seen[1] - seen[0] >= .milliseconds(450))
    }

    @Test("request-metadata")
    func metadata() async throws {
        let script: ScriptedMCP.Script = { request, connection in
            guard request.method == "server/discover" else { return try connection.answerCall(request, "fine") }
            try connection.answer(
                request, #"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}"#)
        }
        try await ScriptedMCP.run(script) { address, server in
            try await address.with(handler: TestHandler()) { client in _ = try await client.call("t") }
            let requests = try server.record.requests.map(MCPRequest.init)
            #expect(requests.count == 2)
            for request in requests {
                let meta = request.json["params"]?["_meta"]
                #expect(request.http.headers["MCP-Protocol-Version"] == "2026-07-28")
                #expect(meta?[Self.prefix + "protocolVersion"] == "2026-07-28")
                #expect(meta?[Self.prefix + "clientInfo"]?["name"] == "tests")
                let capabilities = meta?[Self.prefix + "clientCapabilities"]?.object
                #expect(["roots", "sampling", "elicitation"].allSatisfy { capabilities?[$0] != nil })
            }
        }
    }

    @Test("sep-2322-client-request-state")
    func requestState() async throws {
        let question =
            #""inputRequests":{"confirm":{"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}}}"#
        let script = ScriptedMCP.modern { request, connection in
            let tool = request.json["params"]?["name"]?.string ?? ""
            guard request.json["params"]?["inputResponses"] == nil else {
                return try connection.answerCall(request, tool)
            }
            let state = tool == "stateless" ? "" : #","requestState":"state of \#(tool)""#
            try connection.answer(request, #"{"resultType":"input_required",\#(question)\#(state)}"#)
        }
        try await ScriptedMCP.run(script) { address, server in
            try await address.with(handler: TestHandler(answering: .accept(["confirmed": true]))) { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for tool in ["one", "two", "stateless"] {
                        group.addTask {
                            let result = try await client.call(tool)
                            #expect(result.parts == [.text(tool)])
                        }
                    }
                    try await group.waitForAll()
                }
            }
            let calls = try server.record.requests.map(MCPRequest.init).filter { $0.method == "tools/call" }
            #expect(calls.count == 6 && Set(calls.compactMap { $0.json["id"] }).count == 6)
            for call in calls {
                let params = call.json["params"]
                guard let answers = params?["inputResponses"] else { continue }
                #expect(answers == ["confirm": ["action": "accept", "content": ["confirmed": true]]])
                let tool = params?["name"]?.string ?? ""
                #expect(params?["requestState"]?.string == (tool == "stateless" ? nil : "state of \(tool)"))
            }
        }
    }

    @Test("http-standard-headers")
    func standardHeaders() async throws {
        let script: ScriptedMCP.Script = { request, connection in
            let results = [
                "server/discover":
                    #"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{}}}"#,
                "resources/read": #"{"contents":[{"uri":"a","text":"x"}]}"#, "prompts/get": #"{"messages":[]}"#,
                "tools/list": #"{"tools":[]}"#,
            ]
            try connection.answer(request, results[request.method] ?? #"{"content":[]}"#)
        }
        try await ScriptedMCP.run(script) { address, server in
            try await address.with { client in
                _ = try await client.tools()
                _ = try await client.call("test_headers")
                _ = try await client.read("file:///path/to/file%20name.txt?x=1")
                _ = try await client.prompt("test_prompt")
            }
            let requests = try server.record.requests.map(MCPRequest.init)
            #expect(requests.allSatisfy { $0.http.headers["Mcp-Method"] == $0.method })
            let names = requests.map { $0.http.headers["Mcp-Name"] }
            #expect(names == [nil, nil, "test_headers", "file:///path/to/file%20name.txt?x=1", "test_prompt"])
        }
    }

    @Test("http-custom-headers")
    func customHeaders() async throws {
        let properties = ["region", "priority", "verbose", "empty", "note", "padded", "tricky", "line"].map {
            #""\#($0)":{"type":["string"],"x-mcp-header":"\#($0.prefix(1).uppercased() + $0.dropFirst())"}"#.replacing(
                #"["string"]"#, with: $0 == "priority" ? #""integer""# : $0 == "verbose" ? #""boolean""# : #""string""#)
        }.joined(separator: ",")
        let script = ScriptedMCP.modern { request, connection in
            if request.method == "tools/list" {
                return try connection.answer(
                    request,
                    #"{"tools":[{"name":"custom","inputSchema":{"type":"object","properties":{\#(properties),"plain":{"type":"string"}}}}]}"#
                )
            }
            try connection.answerCall(request, "fine")
        }
        try await ScriptedMCP.run(script) { address, server in
            try await address.with { client in
                _ = try await client.tools()
                _ = try await client.call(
                    "custom",
                    [
                        "region": "us-west1", "priority": 42, "verbose": false, "empty": "", "note": "日本",
                        "padded": " padded ", "tricky": "=?base64?x?=", "line": "a\nb", "plain": "hidden",
                    ])
                _ = try await client.call("custom", ["region": "us-east1", "verbose": nil])
            }
            let calls = try server.record.requests.map(MCPRequest.init).filter { $0.method == "tools/call" }
            let expected = [
                "Region": "us-west1", "Priority": "42", "Verbose": "false", "Empty": "", "Note": "=?base64?5pel5pys?=",
                "Padded": "=?base64?IHBhZGRlZCA=?=", "Tricky": "=?base64?PT9iYXNlNjQ/eD89?=", "Line": "=?base64?YQpi?=",
            ]
            for (name, value) in expected { #expect(calls[0].http.headers["Mcp-Param-\(name)"] == value, "\(name)") }
            #expect(calls[0].http.headers["Mcp-Param-Plain"] == nil)
            #expect(calls[1].http.headers["Mcp-Param-Region"] == "us-east1")
            #expect(calls[1].http.headers["Mcp-Param-Verbose"] == nil)
        }
    }

    @Test("http-invalid-tool-headers")
    func invalidHeaders() async throws {
        let invalid = [
            #"{"type":"string","x-mcp-header":""}"#, #"{"type":"object","x-mcp-header":"Data"}"#,
            #"{"type":"array","items":{"type":"string"},"x-mcp-header":"Items"}"#,
            #"{"type":"null","x-mcp-header":"Nil"}"#,
            #"{"type":"string","x-mcp-header":"My Region"}"#, #"{"type":"string","x-mcp-header":"A:B"}"#,
            #"{"type":"string","x-mcp-header":"Ré"}"#,
            #"{"type":"string","x-mcp-header":"Same"},"other":{"type":"string","x-mcp-header":"same"}"#,
        ]
        let tools = (invalid + [#"{"type":"string","x-mcp-header":"Region"}"#]).enumerated().map { number, property in
            #"{"name":"tool\#(number)","inputSchema":{"type":"object","properties":{"value":\#(property)}}}"#
        }.joined(separator: ",")
        let script = ScriptedMCP.modern { request, connection in
            try connection.answer(request, #"{"tools":[\#(tools)]}"#)
        }
        let handler = TestHandler()
        try await ScriptedMCP.run(script) { address, _ in
            try await address.with(handler: handler) { client async throws in
                #expect(try await client.tools().map(\.name) == ["tool\(invalid.count)"])
            }
        }
        #expect(handler.problems.count == invalid.count)
    }

    @Test("json-schema-ref-no-deref, json-schema-2020-12-preservation")
    func schemas() async throws {
        let fetched = Mutex(0)
        let script = ScriptedMCP.modern { request, connection in
            switch request.method {
            case "GET":
                fetched.withLock { $0 += 1 }
                try connection.answer(200, ["Content-Type": "application/json"], "{}")
            case "tools/list":
                let host = request.http.headers["Host"] ?? ""
                let remote = #"{"properties":{"user":{"$ref":"http://\#(host)/canary.json"}},"type":"object"}"#
                try connection.answer(
                    request,
                    #"{"tools":[{"name":"remote","inputSchema":\#(remote),"outputSchema":\#(remote)},{"name":"rich","inputSchema":\#(ScenarioService.schema.text())}]}"#
                )
            default:
                try connection.answer(
                    request,
                    #"{"content":[{"type":"text","text":"fine"}],"structuredContent":{"user":1,"schema":\#(request.arguments?.text() ?? "0")}}"#
                )
            }
        }
        try await ScriptedMCP.run(script) { address, _ in
            try await address.with { client in
                let tools = try await client.tools()
                #expect(tools.last?.input == ScenarioService.schema)
                #expect(try await client.call("remote", ["a": 1]).parts == [.text("fine")])
                // What was seen is what the server gets back.
                let back = try await client.call("rich", ["schema": ScenarioService.schema])
                #expect(back.structured?["schema"]?["schema"] == ScenarioService.schema)
            }
        }
        #expect(fetched.withLock { $0 } == 0)
    }
}
