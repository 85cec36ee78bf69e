import Capabilities
import JSON
import RPCKit
import Testing

@testable import MCPKit

/// As `ServerScenarioTests`, for what is special about HTTP, and about questions in results.
@Suite("Scenarios for servers: HTTP and questions", .timeLimit(.minutes(2)))
struct ServerHTTPScenarioTests {
    private static let eras = [MCPVersion.november2025, .july2026]

    // MARK: HTTP

    @Test("dns-rebinding-protection")
    func rebinding() async throws {
        try await ScenarioHost.with { host async throws in
            let ping: JSON = ["jsonrpc": "2.0", "id": 1, "method": "ping"]
            for (name, value) in [("Host", "evil.example"), ("Origin", "http://evil.example")] {
                let evil = KeyValuePairs(dictionaryLiteral: ("Mcp-Session-Id", host.session), (name, value))
                #expect(try await RawHTTP.ask(host.port, "POST", ping, evil).status.map { $0 / 100 } == 4)
            }
            for name in ["localhost:\(host.port)", "127.0.0.1:\(host.port)"] {
                let good: KeyValuePairs = [
                    "Mcp-Session-Id": host.session, "Host": name, "Origin": "http://\(name)",
                ]
                #expect(try await RawHTTP.ask(host.port, "POST", ping, good).status == 200)
            }
        }
    }

    @Test("server-sse-multiple-streams", arguments: eras)
    func streams(version: MCPVersion) async throws {
        try await ScenarioHost.with { host in
            try await withThrowingTaskGroup(of: JSON.self) { group in
                for id in 1...3 {
                    group.addTask {
                        let params: JSONObject = ["name": "test_progress", "_meta": ["progressToken": .int(id)]]
                        return try await host.messages("tools/call", params, version, id: .int(id)).last ?? nil
                    }
                }
                for try await answer in group { #expect(answer["result"]?["content"]?[0]?["text"] == "done") }
            }
        }
    }

    @Test("server-sse-polling")
    func polling() async throws {
        try await ScenarioHost.with { host in
            let call: JSON = [
                "jsonrpc": "2.0", "id": "poll", "method": "tools/call",
                "params": ["name": "test_reconnection", "_meta": ["progressToken": 1]],
            ]
            let stream = try RawHTTP(port: host.port)
            try await stream.send(RawHTTP.request("POST", call.text(), ["Mcp-Session-Id": host.session]))
            let begun = try await stream.receive(until: "notifications/progress")
            // The first event has only an id.
            #expect(try begun.eventIDs.count == 2 && begun.messages.count == 1)
            let last = try #require(begun.eventIDs.last)
            stream.close()
            host.service.mayEnd.settle(())
            let rest = try await RawHTTP.ask(
                host.port, "GET", nil, ["Mcp-Session-Id": host.session, "Last-Event-ID": last])
            #expect(try rest.messages.map { $0["id"] } == ["poll"])
            #expect(try rest.messages.last?["result"]?["content"]?[0]?["text"] == "after the break")
        }
    }

    @Test("caching")
    func caching() async throws {
        try await ScenarioHost.with { host in
            for (method, params) in [
                ("server/discover", [:]), ("tools/list", [:]), ("prompts/list", [:]), ("resources/list", [:]),
                ("resources/templates/list", [:]), ("resources/read", ["uri": "test://static-text"]),
            ] as [(String, JSONObject)] {
                let result = try await host.result(method, params, .july2026)
                #expect((result["ttlMs"]?.int ?? -1) >= 0 && ["public", "private"].contains(result["cacheScope"]))
            }
        }
    }

    @Test("http-header-validation, http-custom-header-server-validation")
    func headers() async throws {
        try await ScenarioHost.with { host in
            let params = JSON.modern(["name": "test_simple_text"])
            let cases: [(KeyValuePairs<String, String>, Int)] = [
                (["Mcp-Method": "", "mcp-METHOD": "tools/call"], 200), (["Mcp-Name": "  test_simple_text  "], 200),
                (["Mcp-Name": "=?base64?dGVzdF9zaW1wbGVfdGV4dA==?="], 200), (["Mcp-Method": "tools/list"], 400),
                (["Mcp-Method": "TOOLS/CALL"], 400), (["Mcp-Method": ""], 400), (["Mcp-Name": ""], 400),
                (["Mcp-Name": "test_error"], 400), (["Mcp-Name": "=?base64?!?="], 400),
            ]
            for (headers, status) in cases {
                let answer = try await RawHTTP.askModern(host.port, "tools/call", params, headers)
                #expect(answer.status == status, "\(headers)")
                if status == 400 { #expect(try answer.json["error"]?["code"] == -32020) }
            }
        }
    }

    // MARK: Questions in results

    /// Answers to the questions of a result, for the next request.
    private static func answers(to result: JSON?, with extra: JSONObject = [:]) -> JSONObject {
        var answers = extra
        for (key, request) in result?["inputRequests"]?.object ?? [:] {
            switch request["method"]?.string {
            case "elicitation/create": answers[key] = ["action": "accept", "content": ["name": "Ann"]]
            case "sampling/createMessage":
                answers[key] = [
                    "role": "assistant", "model": "m", "content": ["type": "text", "text": "Paris"],
                ]
            default: answers[key] = ["roots": [["uri": "file:///a", "name": "a"]]]
            }
        }
        return ["requestState": result?["requestState"] ?? nil, "inputResponses": .object(answers)]
    }

    @Test(
        "input-required-result-basic-elicitation, -basic-sampling, -basic-list-roots, -request-state, -result-type",
        arguments: [
            ("elicitation", "elicitation/create", #"accept {"name":"Ann"}"#),
            ("sampling", "sampling/createMessage", "LLM response: Paris"), ("roots", "roots/list", "file:///a"),
        ])
    func basic(tool: String, method: String, text: String) async throws {
        try await ScenarioHost.with { host in
            let first = try await host.call(tool)["result"]
            #expect(first?["resultType"] == "input_required" && first?["requestState"]?.string != nil)
            #expect(first?["inputRequests"]?["q1"]?["method"]?.string == method)
            let second = try await host.call(tool, Self.answers(to: first))["result"]
            #expect(second?["resultType"] == "complete" && second?["content"]?[0]?["text"]?.string == text)
        }
    }

    @Test("input-required-result-multiple-input-requests, -multi-round", arguments: ["several", "rounds"])
    func rounds(tool: String) async throws {
        try await ScenarioHost.with { host in
            var result = try await host.call(tool)["result"]
            var (asked, states) = (0, Set<JSON>())
            while result?["resultType"] == "input_required", asked < 3 {
                asked += result?["inputRequests"]?.object?.count ?? 0
                let isNew = states.insert(result?["requestState"] ?? nil).inserted
                #expect(isNew)
                result = try await host.call(tool, Self.answers(to: result))["result"]
            }
            let text = result?["content"]?[0]?["text"]
            #expect(asked == 3 && text == (tool == "several" ? "false 1 m" : "all rounds"))
        }
    }

    @Test("input-required-result-missing-input-response, -ignore-extra-params, -validate-input, -tampered-state")
    func wrongAnswers() async throws {
        try await ScenarioHost.with { host in
            let first = try await host.call("elicitation")["result"]
            let again = try await host.call(
                "elicitation", ["requestState": first?["requestState"] ?? nil, "inputResponses": ["wrong": [:]]])[
                    "result"]
            #expect(again?["resultType"] == "input_required" && again?["inputRequests"] == first?["inputRequests"])
            let whole = try await host.call("elicitation", Self.answers(to: again, with: ["extra": 5]))["result"]
            #expect(whole?["resultType"] == "complete")

            let asked = try await host.call("elicitation")["result"]
            let state = try #require(asked?["requestState"]?.string)
            var tampered = Self.answers(to: asked)
            tampered["requestState"] = .string(state + "x")
            #expect(try await host.call("elicitation", tampered)["error"]?["code"] == -32602)
            let key = try #require(asked?["inputRequests"]?.object?.keys.first)
            let invalid: JSONObject = ["requestState": .string(state), "inputResponses": .object([key: 12345])]
            #expect(try await host.call("elicitation", invalid)["error"]?["code"] == -32602)
        }
    }

    @Test("input-required-result-non-tool-request, -unsupported-methods, -capability-check")
    func kinds() async throws {
        try await ScenarioHost.with { host in
            var params: JSONObject = ["name": "test_prompt_that_asks"]
            let first = try await host.result("prompts/get", params, .july2026)
            #expect(first["resultType"] == "input_required")
            for (key, value) in Self.answers(to: first) { params[key] = value }
            let filled = try await host.result("prompts/get", params, .july2026)
            #expect(filled["messages"]?[0]?["content"]?["text"] == #"accept {"name":"Ann"}"#)
            for method in ["tools/list", "prompts/list"] {
                #expect(try await host.result(method, .july2026)["resultType"] == "complete")
            }
            let only: JSON = .modern(["name": "test_elicitation"], capabilities: ["sampling": [:]])
            let refused = try await RawHTTP.askModern(host.port, "tools/call", only).json
            #expect(refused["error"]?["code"] == -32021 && refused["result"] == nil)
        }
    }

    @Test("A server that runs no tasks knows none of their methods")
    func tasks() async throws {
        try await ScenarioHost.with { host in
            let offered = try await host.result("server/discover", .july2026)["capabilities"]
            #expect(offered?["extensions"]?["io.modelcontextprotocol/tasks"] == nil && offered?["tasks"] == nil)
            for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"] {
                let answer = try await host.message(method, ["taskId": "t"], .july2026)
                #expect(answer["error"]?["code"] == -32601)
            }
            // Whoever wants a task gets the result.
            let result = try await host.call("simple_text", ["task": ["ttl": 1000]])["result"]
            #expect(result?["resultType"] == "complete" && result?["content"]?[0]?["text"] == "simple")
        }
    }
}
