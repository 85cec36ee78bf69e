import Capabilities
import JSON
import RPCKit

@testable import MCPKit

/// Our server over HTTP, and a client that writes requests as a test tells it to.
struct ScenarioHost {
    let port: Int
    let session: String
    let service: ScenarioService

    /// The answer to a request in one era, with what came before it.
    func messages(
        _ method: String, _ params: JSONObject, _ version: MCPVersion, id: JSON = 1
    ) async throws -> [JSON] {
        let answer: String
        if version.isModern {
            answer = try await RawHTTP.askModern(
                port, method,
                .modern(
                    params, capabilities: ["elicitation": [:], "sampling": [:], "roots": [:]],
                    params["_meta"]?.object ?? [:]))
        } else {
            let message: JSON = ["jsonrpc": "2.0", "id": id, "method": .string(method), "params": .object(params)]
            answer = try await RawHTTP.ask(port, "POST", message, ["Mcp-Session-Id": session])
        }
        return answer.contains("text/event-stream") ? try answer.messages : [try answer.json]
    }

    func message(_ method: String, _ params: JSONObject, _ version: MCPVersion) async throws -> JSON {
        try await messages(method, params, version).last ?? nil
    }

    func result(_ method: String, _ params: JSONObject, _ version: MCPVersion) async throws -> JSON {
        try await message(method, params, version)["result"] ?? nil
    }

    func result(_ method: String, _ version: MCPVersion) async throws -> JSON {
        try await result(method, [:], version)
    }

    func call(_ tool: String, _ more: JSONObject = [:], _ version: MCPVersion = .july2026) async throws -> JSON {
        var params: JSONObject = ["name": .string("test_\(tool)"), "arguments": [:]]
        for (key, value) in more { params[key] = value }
        return try await message("tools/call", params, version)
    }

    /// Serves for the length of a test.
    static func with(_ body: @escaping @Sendable (ScenarioHost) async throws -> Void) async throws {
        let service = ScenarioService()
        try await TestServers.overHTTP(MCPHTTPServer(MCPServer(service))) { port in
            try await body(ScenarioHost(port: port, session: try await RawHTTP.open(port), service: service))
        }
    }
}
