import Capabilities
import HTTPServer
import JSON
import MCPTesting
import RPCKit
import Testing

@testable import MCPKit

@Suite("Our server over HTTP in the modern era", .timeLimit(.minutes(2)))
struct HTTPModernTests {
    private func with(
        _ service: EverythingService = EverythingService(),
        _ body: @escaping @Sendable (Int, MCPHTTPServer) async throws -> Void
    ) async throws {
        let http = MCPHTTPServer(MCPServer(service))
        try await TestServers.overHTTP(http) { port in try await body(port, http) }
        #expect(http.owner.count == 0 && service.changes.count == 0 && http.server.suspended.count == 0)
    }

    private static let add: JSON = .modern(["name": "add", "arguments": ["a": 1, "b": 2]])

    @Test("A request is answered by JSON, and by events once there is something to tell")
    func answers() async throws {
        try await with { port, http in
            let plain = try await RawHTTP.askModern(port, "tools/call", Self.add, id: "x")
            #expect(plain.status == 200 && plain.contains("Content-Type: application/json"))
            #expect(try plain.json["id"] == "x" && plain.json["result"]?["structuredContent"] == ["result": 3])
            #expect(!plain.contains("Mcp-Session-Id") && http.sessionCount == 0)
            let count: JSON = .modern(["name": "count", "arguments": ["to": 3]], ["progressToken": 7])
            let told = try await RawHTTP.askModern(port, "tools/call", count)
            #expect(told.contains("Content-Type: text/event-stream") && told.eventIDs.isEmpty)
            #expect(try told.messages.map { $0["params"]?["progress"]?.double } == [1, 2, 3, nil])
            #expect(try told.messages.last?["result"]?["resultType"] == "complete")
        }
    }

    @Test("Headers must say what the request says")
    func headers() async throws {
        try await with { port, _ in
            for (name, value) in [
                ("MCP-Protocol-Version", "2025-11-25"), ("MCP-Protocol-Version", ""), ("Mcp-Method", "tools/list"),
                ("Mcp-Method", ""), ("Mcp-Name", "fail"), ("Mcp-Name", ""), ("Mcp-Name", "=?base64?!?="),
            ] {
                let answer = try await RawHTTP.askModern(
                    port, "tools/call", Self.add, KeyValuePairs(dictionaryLiteral: (name, value)))
                #expect(try answer.status == 400 && answer.json["error"]?["code"] == -32020, "\(name): \(value)")
            }
            let packed = try await RawHTTP.askModern(
                port, "tools/call", Self.add, ["Mcp-Name": "=?base64?YWRk?="])
            #expect(packed.status == 200)
            var twice = RawHTTP.modern(port, "tools/call", Self.add)
            twice.replace("Mcp-Method: ", with: "Mcp-Method: tools/list\r\nMcp-Method: ", maxReplacements: 1)
            let client = try RawHTTP(port: port)
            try await client.send(twice)
            #expect(try await client.receive().json["error"]?["code"] == -32020)
            client.close()
        }
    }

    @Test("Headers with arguments must be those of the arguments")
    func parameters() async throws {
        try await with { port, _ in
            let without: JSON = .modern(["name": "region", "arguments": ["other": 1]])
            #expect(try await RawHTTP.askModern(port, "tools/call", without).status == 200)
            let extra = try await RawHTTP.askModern(port, "tools/call", without, ["Mcp-Param-Region": "süd"])
            #expect(extra.status == 400)
            let call: JSON = .modern(["name": "region", "arguments": ["region": "süd"]])
            for (value, status) in [("=?base64?c8O8ZA==?=", 200), ("nord", 400), ("=?base64?c8O8ZA?=", 400), ("", 400)]
            {
                let answer = try await RawHTTP.askModern(port, "tools/call", call, ["Mcp-Param-Region": value])
                #expect(answer.status == status)
            }
        }
    }

    @Test("Errors have the status of their code")
    func errors() async throws {
        try await with { port, _ in
            func check(_ method: String, _ params: JSON, _ status: Int, _ code: Int) async throws {
                let version = params["_meta"]?["io.modelcontextprotocol/protocolVersion"]?.string ?? "2026-07-28"
                let answer = try await RawHTTP.askModern(
                    port, method, params, id: 9, ["MCP-Protocol-Version": version])
                let json = try answer.json
                #expect(answer.status == status && json["error"]?["code"]?.int == code && json["id"] == 9, "\(method)")
            }
            try await check("tools/other", .modern(), 404, -32601)
            try await check("ping", .modern(), 404, -32601)
            try await check("resources/subscribe", .modern(["uri": "counter://value"]), 404, -32601)
            try await check("tools/call", .modern(["name": "nothing"]), 400, -32602)
            try await check("tools/list", [:], 400, -32602)
            try await check("tools/list", .modern(version: "2027-01-01"), 400, -32022)
            try await check("tools/list", .modern(["cursor": "x"]), 400, -32602)
            try await check("tools/call", .modern(["name": "choose"], capabilities: [:]), 400, -32021)
            #expect(try await RawHTTP.ask(port, "GET", nil, ["MCP-Protocol-Version": "2026-07-28"]).status == 405)
            let notice: JSON = ["jsonrpc": "2.0", "method": "notifications/cancelled", "params": ["requestId": 1]]
            let modern: KeyValuePairs = ["MCP-Protocol-Version": "2026-07-28"]
            #expect(try await RawHTTP.ask(port, "POST", notice, modern).status == 202)
            let answer: JSON = ["jsonrpc": "2.0", "id": 1, "result": [:]]
            #expect(try await RawHTTP.ask(port, "POST", answer, modern).status == 400)
        }
    }

    @Test("Closing the response cancels the request", arguments: [nil, 1] as [JSON?])
    func closing(token: JSON?) async throws {
        let service = EverythingService()
        try await with(service) { port, http in
            let seen = service.news.count
            let client = try RawHTTP(port: port)
            let meta: JSONObject = token.map { ["progressToken": $0] } ?? [:]
            try await client.send(RawHTTP.modern(port, "tools/call", .modern(["name": "wait"], meta)))
            try await service.news.wait(beyond: seen)
            client.close()
            try await service.wait { $0.cancelled == 1 }
            while http.owner.count > 0 {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    @Test("A silent call begins its answer after a while, and is cancelled by closing it all the same")
    func silence() async throws {
        var limits = MCPHTTPServer.Limits()
        limits.silence = .milliseconds(20)
        let service = EverythingService()
        let http = MCPHTTPServer(MCPServer(service), limits: limits)
        try await TestServers.overHTTP(http) { port in
            let client = try RawHTTP(port: port)
            try await client.send(RawHTTP.modern(port, "tools/call", .modern(["name": "wait"])))
            _ = try await client.receive(until: "text/event-stream")
            client.close()
            try await service.wait { $0.cancelled == 1 }
        }
    }

    @Test("Questions go over several requests, and their state is for the client that was asked")
    func questions() async throws {
        let service = EverythingService()
        try await with(service) { port, http in
            let asked = try await RawHTTP.askModern(port, "tools/call", .modern(["name": "choose"])).json["result"]
            let state = try #require(asked?["requestState"])
            let answers: JSON = ["q1": ["action": "accept", "content": ["color": "red"]]]
            let next: JSON = .modern(["name": "choose", "requestState": state, "inputResponses": answers])
            var stolen = RawHTTP.modern(port, "tools/call", next)
            stolen.replace("Bearer secret", with: "Bearer other")
            let thief = try RawHTTP(port: port)
            try await thief.send(stolen)
            #expect(try await thief.receive().json["error"]?["code"] == -32602)
            thief.close()
            let more = try await RawHTTP.askModern(port, "tools/call", next, id: 2).json["result"]
            #expect(more?["resultType"] == "input_required")
            #expect(try await RawHTTP.askModern(port, "tools/call", next, id: 3).json["error"]?["code"] == -32602)
            let last: JSON = .modern([
                "name": "choose", "requestState": more?["requestState"] ?? nil,
                "inputResponses": ["q2": ["action": "decline"]],
            ])
            let result = try await RawHTTP.askModern(port, "tools/call", last, id: 4).json["result"]
            #expect(result?["content"]?[0]?["text"] == "no count")
        }
        #expect(service.runs == 1)
    }

    @Test("A subscription is a stream of notices that ends with its client")
    func listening() async throws {
        let service = EverythingService()
        try await with(service) { port, _ in
            let client = try RawHTTP(port: port)
            let wanted: JSON = .modern(["notifications": ["toolsListChanged": true, "promptsListChanged": false]])
            try await client.send(RawHTTP.modern(port, "subscriptions/listen", wanted, id: 5))
            let first = try await client.receive(until: "acknowledged")
            #expect(try first.messages[0]["params"]?["notifications"] == ["toolsListChanged": true])
            service.changes.announce(.prompts)
            service.changes.announce(.tools)
            let told = try await client.receive(until: "list_changed").messages
            #expect(told[0]["method"] == "notifications/tools/list_changed")
            #expect(told[0]["params"]?["_meta"]?["io.modelcontextprotocol/subscriptionId"] == 5)
            client.close()
            while service.changes.count > 0 {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }
}
