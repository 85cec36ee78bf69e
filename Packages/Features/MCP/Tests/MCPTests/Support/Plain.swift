import FileKit
import HostTesting
import JSON
import MCPServers

@testable import MCP

/// The server without an SDK, and workbenches in which it is set up.
enum Plain {
    private static let here = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")

    /// The file of the server.
    static var script: String { "\(here)/Servers/plain.py" }

    /// The entry of the server.
    static func entry(_ words: String..., more: JSONObject = [:]) -> JSON {
        let arguments = ["\(here)/Servers/plain.py"] + words
        var entry: JSONObject = ["command": "/usr/bin/python3", "args": .array(arguments.map { .string($0) })]
        for (name, value) in more { entry[name] = value }
        return .object(entry)
    }

    /// The settings with one server.
    static func settings(_ entry: JSON, named name: String = "plain", more: JSONObject = [:]) -> String {
        var mcp: JSONObject = ["servers": [name: entry]]
        for (key, value) in more { mcp[key] = value }
        return JSON.object(["mcp": .object(mcp)]).text()
    }

    /// The file of a project with one server.
    static func project(_ entry: JSON, named name: String = "theirs") -> String {
        (["mcpServers": [name: entry]] as JSON).text()
    }

    /// A workbench whose settings have the server.
    static func bench<Result>(
        _ words: String..., isolation: isolated (any Actor)? = #isolation,
        _ body: (inout TestWorkbench) async throws -> Result
    ) async throws -> Result {
        try await TestWorkbench.run([MCPFeature.self]) { bench in
            let arguments = ["\(here)/Servers/plain.py"] + words
            let entry: JSON = ["command": "/usr/bin/python3", "args": .array(arguments.map { .string($0) })]
            try bench.write(settings: settings(entry))
            return try await body(&bench)
        }
    }
}
