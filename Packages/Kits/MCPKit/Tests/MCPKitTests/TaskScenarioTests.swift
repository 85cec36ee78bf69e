import Capabilities
import JSON
import Testing

@testable import MCPKit

/// The scenarios of the conformance suite for the extension of tasks, by their names.
@Suite("Scenarios for servers: tasks", .timeLimit(.minutes(2)))
struct TaskScenarioTests {
    private static let extensions: JSON = ["elicitation": [:], "extensions": ["io.modelcontextprotocol/tasks": [:]]]
    private static let answer: JSON = ["action": "accept", "content": ["color": "red"]]

    /// A server with tasks, and a client that takes them.
    private struct Host: Sendable {
        let port: Int
        let service: TaskService

        func ask(
            _ method: String, _ params: JSONObject, capabilities: JSON = TaskScenarioTests.extensions,
            _ headers: KeyValuePairs<String, String> = [:]
        ) async throws -> JSON {
            try await RawHTTP.askModern(port, method, .modern(params, capabilities: capabilities), headers).json
        }

        func call(_ tool: String) async throws -> JSON {
            try await ask("tools/call", ["name": .string(tool)])["result"] ?? nil
        }

        /// Asks for a task until it has a status, and what else it should have.
        func get(_ id: JSON, _ status: String, until isIt: (JSON) -> Bool = { _ in true }) async throws -> JSON {
            while true {
                let task = try await ask("tasks/get", ["taskId": id])["result"] ?? nil
                #expect(task["taskId"] == id && task["requestState"] == nil && task["resultType"] == "complete")
                if task["status"]?.string == status, isIt(task) { return task }
                try Task.checkCancellation()
            }
        }
    }

    private func with(
        _ limits: MCPServer.Limits = .tasks(), _ body: @escaping @Sendable (Host) async throws -> Void
    ) async throws {
        let service = TaskService()
        let http = MCPHTTPServer(MCPServer(service, limits: limits))
        try await TestServers.overHTTP(http) { port in try await body(Host(port: port, service: service)) }
    }

    @Test("tasks-capability-negotiation")
    func negotiation() async throws {
        try await with { host in
            let offered = try await host.ask("server/discover", [:])["result"]?["capabilities"]
            #expect(offered?["extensions"]?["io.modelcontextprotocol/tasks"] == [:] && offered?["tasks"] == nil)
            // The capability of the legacy era counts for nothing.
            for capabilities: JSON in [[:], ["tasks": ["requests": ["tools": ["call": [:]]]]]] {
                for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
                    let params: JSONObject = ["taskId": "gate", "inputResponses": [:]]
                    #expect(try await host.ask(method, params, capabilities: capabilities)["error"]?["code"] == -32021)
                }
                host.service.mayEnd.settle(())
                let done = try await host.ask("tools/call", ["name": "slow"], capabilities: capabilities)["result"]
                #expect(done?["resultType"] == "complete" && done?["taskId"] == nil && done?["content"] != nil)
            }
        }
    }

    @Test("tasks-lifecycle")
    func lifecycle() async throws {
        try await with { host in
            let quick = try await host.call("quick")
            #expect(quick["resultType"] == "complete" && quick["taskId"] == nil)
            let begun = try await host.call("slow")
            #expect(begun["resultType"] == "task" && begun["task"] == nil && begun["result"] == nil)
            let working = try await host.get(begun["taskId"] ?? nil, "working")
            #expect(working["result"] == nil && working["error"] == nil)
            #expect(try await host.ask("tasks/cancel", ["taskId": begun["taskId"] ?? nil])["result"]?["taskId"] == nil)
            _ = try await host.get(begun["taskId"] ?? nil, "cancelled")
            let must = try await host.call("must")
            let done = try await host.get(must["taskId"] ?? nil, "completed")
            #expect(done["result"]?["content"]?[0]?["text"] == "made")
            // Once it is over there is nothing to cancel, which is no error.
            #expect(
                try await host.ask("tasks/cancel", ["taskId": must["taskId"] ?? nil])["result"]?["resultType"]
                    == "complete")
            _ = try await host.get(must["taskId"] ?? nil, "completed")
            let failed = try await host.get(try await host.call("fail")["taskId"] ?? nil, "completed")
            #expect(failed["result"]?["isError"] == true)
            let broken = try await host.get(try await host.call("break")["taskId"] ?? nil, "failed") {
                $0["statusMessage"] == "broken"
            }
            #expect(broken["error"]?["code"] == -32000 && broken["result"] == nil)
        }
    }

    @Test("tasks-dispatch-and-envelope")
    func dispatch() async throws {
        try await with { host in
            for method in ["tasks/result", "tasks/list"] {
                #expect(try await host.ask(method, ["taskId": "probe"])["error"]?["code"] == -32601)
            }
            for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
                let unknown = try await host.ask(method, ["taskId": "nonexistent", "inputResponses": [:]])
                #expect(unknown["error"]?["code"] == -32602)
            }
            let hint = try await host.ask("tools/call", ["name": "quick", "task": ["ttl": 60_000]])["result"]
            #expect(hint?["resultType"] == "complete" && hint?["taskId"] == nil)
        }
    }

    @Test("tasks-wire-fields, tasks-request-state-removal")
    func fields() async throws {
        try await with { host in
            let begun = try await host.call("must")
            #expect(begun["ttlMs"]?.int != nil && begun["pollIntervalMs"] == 20)
            for key in ["ttl", "pollInterval", "requestState"] { #expect(begun[key] == nil) }
            let done = try await host.get(begun["taskId"] ?? nil, "completed")
            #expect(done["result"]?["_meta"]?["io.modelcontextprotocol/related-task"] == nil)
        }
    }

    @Test("tasks-mrtr-input")
    func input() async throws {
        try await with { host in
            let id = try await host.call("both")["taskId"] ?? nil
            let asking = try await host.get(id, "input_required") { $0["inputRequests"]?.object?.count == 2 }
            let keys = asking["inputRequests"]?.object?.keys.sorted() ?? []
            func update(_ key: String) async throws -> JSON? {
                try await host.ask("tasks/update", ["taskId": id, "inputResponses": .object([key: Self.answer])])[
                    "result"]
            }
            #expect(try await update(keys[0])?["resultType"] == "complete")
            let rest = try await host.get(id, "input_required")
            #expect(rest["inputRequests"]?.object?.keys.sorted() == [keys[1]])
            _ = try await update(keys[1])
            #expect(try await host.get(id, "completed")["result"]?["content"]?[0]?["text"] == "red red")
        }
    }

    @Test("tasks-mrtr-composition")
    func composition() async throws {
        try await with(.tasks { $0.patience = .seconds(2) }) { host in
            let first = try await host.call("first")
            #expect(first["resultType"] == "input_required" && first["taskId"] == nil)
            let key = first["inputRequests"]?.object?.keys.first ?? ""
            let second =
                try await host.ask(
                    "tools/call",
                    [
                        "name": "first", "inputResponses": .object([key: Self.answer]),
                        "requestState": first["requestState"] ?? nil,
                    ])["result"] ?? nil
            #expect(second["resultType"] == "task" && second["requestState"] == nil && second["inputRequests"] == nil)
            host.service.mayEnd.settle(())
            let done = try await host.get(second["taskId"] ?? nil, "completed")
            #expect(done["result"]?["content"]?[0]?["text"] == "red")
        }
    }

    @Test("tasks-request-headers, tasks-required-task-error")
    func headers() async throws {
        try await with { host in
            let id = try await host.call("must")["taskId"] ?? nil
            for name in ["x", ""] {
                let wrong = try await host.ask("tasks/get", ["taskId": id], ["Mcp-Name": name])
                #expect(wrong["error"]?["code"] == -32020)
            }
            let method = try await host.ask("tools/call", ["name": "quick"], ["Mcp-Method": "tasks/get"])
            #expect(method["error"]?["code"] == -32020)
            let error = try await host.ask("tools/call", ["name": "must"], capabilities: [:])["error"]
            #expect(error?["code"] == -32021)
            #expect(error?["data"]?["requiredCapabilities"]?["extensions"]?["io.modelcontextprotocol/tasks"] == [:])
        }
    }
}
