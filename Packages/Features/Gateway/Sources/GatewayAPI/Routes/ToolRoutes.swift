import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON

/// Routes for the available tools, by source: the workspace's own and servers of the Model Context Protocol.
struct ToolRoutes {
    let services: APIServices

    var all: [Route] {
        [
            Route(
                .get, "/v1/mcp/servers", "listToolServers", "List the sources of tools",
                .query("scope", "Who set the sources up: user or project", default: AgentToolScope.all),
                .query("project_id", "Only sources for this project", as: String?.self)
            ) { _, scope, project in try await servers(scope, project) }.refusing(.notFound),
            Route(
                .get, "/v1/mcp/servers/{id}/tools", "listServerTools", "List the tools of a source",
                .path("id", "The source"), .query("project_id", "As available in this project", as: String?.self)
            ) { _, id, project in try await tools(of: id, project) }.refusing(.notFound),
        ].map { $0.tagged("tools") }
    }

    private func servers(_ scope: AgentToolScope, _ project: String?) async throws -> WireList<ToolServer> {
        WireList(rows: try await services.turns.toolOffers(project: project, scope).map(ToolServer.init))
    }

    private func tools(of source: String, _ project: String?) async throws -> WireList<ServerTool> {
        guard let offer = try await services.turns.toolOffers(project: project).first(where: { $0.source == source })
        else {
            let name = PlainText.escape(source).quotedForMessage
            throw RequestProblem(
                .notFound, code: "gateway.server-not-found",
                "there is no tool source \(name); GET /v1/mcp/servers lists them")
        }
        return WireList(rows: offer.tools.map(ServerTool.init))
    }
}

/// A source of tools.
struct ToolServer: Record {
    let offer: ToolOffer

    static let fields: [Field<ToolServer>] = [
        Field("id", "Id of the source") { $0.offer.source },
        Field("name", "Name of the source", .name) { $0.offer.source },
        Field("status", "running or error", .state) { $0.offer.problem == nil ? "running" : "error" },
        Field("problem", "Why its tools are unavailable") { $0.offer.problem },
        Field("enabled", "Whether sessions use it by default") { _ in true },
        Field("scope", "Who set it up: user or project") { $0.offer.scope },
        Field("version", "Version of the source, as far as it is known") { $0.offer.version },
        Field("tool_count", "Number of tools") { $0.offer.tools.count },
    ]
}

/// A tool of a source.
struct ServerTool: Record {
    let tool: ToolDescription

    static let fields: [Field<ServerTool>] = [
        Field("name", "Name of the tool", .name) { $0.tool.name },
        Field("description", "What it does") { $0.tool.summary },
        Field("effect", "Whether it reads, writes or destroys") { $0.tool.effect },
        Field("input_schema", "JSON Schema of its input") { $0.tool.input },
    ]
}
