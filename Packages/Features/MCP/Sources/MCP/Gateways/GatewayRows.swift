import Capabilities
import JSON

/// A tool server of a gateway in a list, as it is or as a session uses it.
struct GatewayServerRow: Record {
    let gateway: Gateway
    let server: GatewayToolServer
    /// The project as which it was asked for.
    let project: String?
    /// The session that the choice belongs to.
    let session: String?
    let choice: GatewayChoice?

    static let fields: [Field<GatewayServerRow>] = [
        Field("id", "Name with which it is chosen", .name) { $0.server.id },
        Field("status", "Its state, in the gateway's word", .state) {
            $0.server.row.status.map { PlainText.escape($0) }
        },
        Field("on", "Whether the session uses it, or without a session whether new ones do") { $0.isOn },
        Field("place", "Its place in the order of priority") { $0.place },
        Field("tools", "Number of its tools") { $0.server.tools?.count ?? $0.server.row.tools },
        Field("off", "Its tools that are not used, of a server that is used") { $0.off },
        Field("scope", "Who set it up: user or project") { $0.server.row.scope },
        Field("version", "Version of the server") { $0.server.row.version.map { PlainText.escape($0, limit: 60) } },
        Field("problem", "Why its tools are not there") { $0.server.row.problem.map { PlainText.escape($0) } },
        Field("title", "Its name for people", .detail) { PlainText.escape($0.server.row.name) },
        Field("gateway", "The gateway", .minor) { $0.gateway.id },
        Field("project", "The project of the gateway", .detail) { $0.project },
        Field("session", "The session", .detail) { $0.session },
        Field("default", "Whether choosing it here is for new sessions", .detail) { $0.session == nil },
        Field("word", "How to name it when choosing", .detail) { [$0.server.id] },
    ]

    private var isOn: Bool? { choice?.uses(server) ?? server.row.isEnabled }

    private var place: Int? {
        choice?.sorted.firstIndex { $0.id == server.id }.map { $0 + 1 }
    }

    private var off: [String]? {
        guard let choice, let tools = server.tools, choice.uses(server) else { return nil }
        return tools.filter { !choice.uses($0, of: server) }
    }

    /// The rows of a list.
    static func rows(
        of gateway: Gateway, _ servers: [GatewayToolServer], _ choice: GatewayChoice?, project: String?,
        session: String?
    ) -> [GatewayServerRow] {
        (choice?.sorted ?? servers).map {
            GatewayServerRow(gateway: gateway, server: $0, project: project, session: session, choice: choice)
        }
    }
}

/// A tool of a tool server of a gateway.
struct GatewayToolRow: Record {
    let gateway: Gateway
    let server: String
    /// The project as which it was asked for.
    let project: String?
    let session: String?
    /// Whether the session uses it, or new ones do by what the person has chosen for them; nil if they chose nothing.
    let isOn: Bool?
    let tool: AgentTool

    static let fields: [Field<GatewayToolRow>] = [
        Field("name", "Name of the tool", .name) { $0.tool.name },
        Field("on", "Whether the session uses it, or without a session whether new ones do by your choice") { $0.isOn },
        Field("summary", "What the gateway says it does") {
            PlainText.escape($0.tool.summary.firstLine, limit: 300)
        },
        Field("effect", "What the gateway says it changes, which proves nothing", .minor) { $0.tool.effect },
        Field("server", "Its tool server", .minor) { $0.server },
        Field("input", "JSON Schema of its arguments", .detail) { $0.tool.input },
        Field("gateway", "The gateway", .detail) { $0.gateway.id },
        Field("project", "The project of the gateway", .detail) { $0.project },
        Field("session", "The session", .detail) { $0.session },
        Field("default", "Whether choosing it here is for new sessions", .detail) { $0.session == nil },
        Field("word", "How to name it when choosing", .detail) { ["\($0.server)/\($0.tool.name)"] },
    ]
}

/// What a session of a gateway uses, as the gateway applies it, or what new ones are to use.
struct GatewayUse: Record {
    let gateway: Gateway
    /// Nil for new sessions.
    let session: String?
    let project: String?
    /// Nil if it is left to the gateway.
    let audit: Bool?
    /// Nil if nothing is chosen any more.
    let choice: GatewayChoice?

    static let fields: [Field<GatewayUse>] = [
        Field("session", "The session; absent for new ones", .name) { $0.session },
        Field("gateway", "The gateway") { $0.gateway.id },
        Field("project", "The project of the gateway") { $0.project },
        Field("audit", "Whether every call is in the gateway's audit log; absent if that is left to the gateway") {
            $0.audit
        },
        Field("servers", "The tool servers, those with priority first") { use in
            GatewayServerRow.rows(of: use.gateway, [], use.choice, project: use.project, session: use.session)
        },
    ]
}
