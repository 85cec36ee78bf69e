import Capabilities
import JSON
import Testing

@testable import MCPKit

@Suite("Tasks of our server over HTTP", .timeLimit(.minutes(2)))
struct HTTPTaskTests {
    private static let extensions: JSON = ["extensions": ["io.modelcontextprotocol/tasks": [:]]]

    private func with(
        _ service: TaskService = TaskService(),
        _ body: @escaping @Sendable (Int, TaskService, MCPHTTPServer) async throws -> Void
    ) async throws {
        let http = MCPHTTPServer(MCPServer(service, limits: .tasks()))
        try await TestServers.overHTTP(http) { port in try await body(port, service, http) }
        // A server that ends takes all tasks with it.
        #expect(http.server.tasks.count == 0 && http.owner.count == 0)
    }

    /// Sends a request of the modern era as one of the two clients.
    private func ask(
        _ port: Int, _ method: String, _ params: JSONObject, as token: String = "secret"
    ) async throws -> JSON {
        let text = RawHTTP.modern(port, method, .modern(params, capabilities: Self.extensions))
        let client = try RawHTTP(port: port)
        defer { client.close() }
        try await client.send(text.replacing("Bearer secret", with: "Bearer \(token)"))
        return try await client.receive().json
    }

    /// Sends a request in a session of the legacy era.
    private func ask(
        _ port: Int, _ session: String, _ method: String, _ params: JSON, as token: String = "secret"
    ) async throws -> JSON {
        let answer = try await RawHTTP.ask(
            port, "POST", ["jsonrpc": "2.0", "id": 7, "method": .string(method), "params": params],
            ["Authorization": "Bearer \(token)", "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"])
        return answer.contains("text/event-stream") ? try answer.messages.last ?? nil : try answer.json
    }

    @Test("Another client of the modern era neither sees a task nor cancels it; its own does")
    func modern() async throws {
        try await with { port, service, _ in
            let begun = try await ask(port, "tools/call", ["name": "slow"])
            let id = begun["result"]?["taskId"] ?? nil
            try await service.wait { $0.begun == 1 }
            for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
                let refused = try await ask(port, method, ["taskId": id, "inputResponses": [:]], as: "other")
                #expect(refused["error"]?["code"] == -32602, "\(method): \(refused)")
            }
            #expect(service.cancelled == 0)
            #expect(try await ask(port, "tasks/get", ["taskId": id])["result"]?["status"] == "working")
            #expect(try await ask(port, "tasks/cancel", ["taskId": id])["result"] != nil)
            try await service.wait { $0.cancelled == 1 }
            // The header must name the task.
            let wrong = try await RawHTTP.askModern(
                port, "tasks/get", .modern(["taskId": id], capabilities: Self.extensions), ["Mcp-Name": "x"])
            #expect(try wrong.json["error"]?["code"] == -32020)
        }
    }

    @Test("Another session of the legacy era neither sees a task nor cancels it; its own does, and takes it along")
    func legacy() async throws {
        try await with { port, service, http in
            let session = try await RawHTTP.open(port)
            let begun = try await ask(port, session, "tools/call", ["name": "slow", "task": [:]])
            let about: JSON = ["taskId": begun["result"]?["task"]?["taskId"] ?? nil]
            try await service.wait { $0.begun == 1 }
            // Neither another client, nor another session of the same.
            for token in ["other", "secret"] {
                let second = try await RawHTTP.open(port, token: token)
                for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
                    let refused = try await ask(port, second, method, about, as: token)
                    #expect(refused["error"]?["code"] == -32602, "\(method): \(refused)")
                }
                #expect(try await ask(port, second, "tasks/list", [:], as: token)["result"]?["tasks"] == [])
            }
            #expect(service.cancelled == 0)
            #expect(try await ask(port, session, "tasks/list", [:])["result"]?["tasks"]?.array?.count == 1)
            #expect(try await ask(port, session, "tasks/cancel", about)["result"]?["status"] == "cancelled")
            try await service.wait { $0.cancelled == 1 }
            _ = try await ask(port, session, "tools/call", ["name": "slow", "task": [:]])
            try await service.wait { $0.begun == 2 }
            _ = try await RawHTTP.ask(port, "DELETE", nil, ["Mcp-Session-Id": session])
            try await service.wait { $0.cancelled == 2 }
        }
    }

    @Test("A server that ends cancels what runs")
    func end() async throws {
        let service = TaskService()
        try await with(service) { port, service, _ in
            _ = try await ask(port, "tools/call", ["name": "slow"])
            let session = try await RawHTTP.open(port)
            _ = try await ask(port, session, "tools/call", ["name": "slow", "task": [:]])
            try await service.wait { $0.begun == 2 }
        }
        #expect(service.cancelled == 2)
    }

    @Test(
        "FastMCP, the reference SDK and an extension of the modern one run tasks",
        arguments: [
            (Peers.SDK.legacy, "fastmcp"), (.legacy, "sdk"), (.modern, "extension"),
        ])
    func peers(sdk: Peers.SDK, kind: String) async throws {
        let service = TaskService()
        try await with(service) { port, _, _ in
            let seen = try await TestServers.seen(
                sdk, [kind, "http://127.0.0.1:\(port)/mcp"], script: "tasks.py")
            switch kind {
            case "fastmcp":
                #expect(seen["immediate"] == false && seen["made"] == ["made"] && seen["status"] == "completed")
                #expect(seen["failed"] == "because" && seen["working"] == "working" && seen["cancelled"] == "cancelled")
                #expect(seen["listed"] == 3)
            case "sdk":
                #expect(seen["capability"] == true && seen["asked"] == ["red"])
                #expect(seen["cancelled"] == "cancelled" && seen["listed"] == ["completed", "cancelled"])
            default:
                #expect(seen["made"] == ["made"] && seen["asked"] == ["green"])
                #expect(seen["cancelled"] == "cancelled" && seen["last"] == "cancelled")
            }
        }
        #expect(service.cancelled == service.begun)
    }
}
