import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON

/// Routes for the available tools, by source: the workspace's own and servers of the Model Context Protocol.
struct ToolRoutes {
    let services: APIServices

    /// The origin of a source.
    enum Scope: String, Choice {
        case all, user, project
    }

    var all: [Route] {
        [
            Route(
                .get, "/v1/mcp/servers", "listToolServers", "List the sources of tools",
                .query("scope", "Origin of the sources; all sources have the scope user", default: Scope.all),
                .query("project_id", "Only sources for this project", as: String?.self)
            ) { _, scope, project in try await servers(scope, project) }.refusing(.notFound),
            Route(
                .get, "/v1/mcp/servers/{id}/tools", "listServerTools", "List the tools of a source",
                .path("id", "The source"), .query("project_id", "As available in this project", as: String?.self)
            ) { _, id, project in try await tools(of: id, project) }.refusing(.notFound),
        ].map { $0.tagged("tools") }
    }

    private func offers(_ project: String?) async throws -> [ToolOffer] {
        try await services.turns.toolOffers(project: project)
    }

    private func servers(_ scope: Scope, _ project: String?) async throws -> WireList<ToolServer> {
        let offers = try await offers(project)
        // There are no sources with the scope project.
        return WireList(rows: scope == .project ? [] : offers.map(ToolServer.init))
    }

    private func tools(of source: String, _ project: String?) async throws -> WireList<ServerTool> {
        guard let offer = try await offers(project).first(where: { $0.source == source }) else {
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
        Field("scope", "Origin of the source") { _ in "user" },
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
