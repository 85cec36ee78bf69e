import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON

/// Which tools there are, by their sources: the workspace's own and servers of the Model Context Protocol.
struct ToolRoutes {
    let services: APIServices

    /// Where a source comes from.
    enum Scope: String, Choice {
        case all, user, project
    }

    var all: [Route] {
        [
            Route(
                .get, "/v1/mcp/servers", "listToolServers", "The sources of tools",
                .query("scope", "Whose sources; all there are come from the gateway itself", default: Scope.all),
                .query("project_id", "Those that can be used in this project", as: String?.self)
            ) { _, scope, project in try await servers(scope, project) }.refusing(.notFound),
            Route(
                .get, "/v1/mcp/servers/{id}/tools", "listServerTools", "The tools of a source",
                .path("id", "The source"), .query("project_id", "As they are in this project", as: String?.self)
            ) { _, id, project in try await tools(of: id, project) }.refusing(.notFound),
        ].map { $0.tagged("tools") }
    }

    private func offers(_ project: String?) async throws -> [ToolOffer] {
        try await services.turns.toolOffers(project: project)
    }

    private func servers(_ scope: Scope, _ project: String?) async throws -> WireList<ToolServer> {
        let offers = try await offers(project)
        // A project has no sources of its own.
        return WireList(rows: scope == .project ? [] : offers.map(ToolServer.init))
    }

    private func tools(of source: String, _ project: String?) async throws -> WireList<ServerTool> {
        guard let offer = try await offers(project).first(where: { $0.source == source }) else {
            let name = PlainText.escape(source).quotedForMessage
            throw RequestProblem(
                .notFound, code: "gateway.server-not-found",
                "there is no source of tools \(name); GET /v1/mcp/servers lists them")
        }
        return WireList(rows: offer.tools.map(ServerTool.init))
    }
}

/// A source of tools.
struct ToolServer: Record {
    let offer: ToolOffer

    static let fields: [Field<ToolServer>] = [
        Field("id", "Its id") { $0.offer.source },
        Field("name", "What it is called", .name) { $0.offer.source },
        Field("status", "running or error", .state) { $0.offer.problem == nil ? "running" : "error" },
        Field("problem", "Why its tools cannot be used now") { $0.offer.problem },
        Field("enabled", "Whether sessions use it that say nothing else") { _ in true },
        Field("scope", "Whose it is") { _ in "user" },
        Field("tool_count", "How many tools it has") { $0.offer.tools.count },
    ]
}

/// A tool of a source.
struct ServerTool: Record {
    let tool: ToolDescription

    static let fields: [Field<ServerTool>] = [
        Field("name", "What it is called", .name) { $0.tool.name },
        Field("description", "What it does") { $0.tool.summary },
        Field("effect", "Whether it reads, writes or destroys") { $0.tool.effect },
        Field("input_schema", "The JSON Schema of its input") { $0.tool.input },
    ]
}
