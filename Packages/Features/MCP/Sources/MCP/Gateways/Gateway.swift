import Capabilities
import MCPKit
import MCPServers
import Registry

/// An agent gateway that the person has set up, with the tools that its sessions use.
struct Gateway: Sendable {
    /// The name of its profile.
    let id: String
    private let server: any AgentServer
    private let limits: ServerLimits

    /// The most tool servers that are asked for their tools, one after another.
    private static let most = 200

    init(_ id: String, _ server: any AgentServer, _ limits: ServerLimits) {
        (self.id, self.server, self.limits) = (id, server, limits)
    }

    /// The name in messages.
    var name: String { PlainText.escape(id, limit: 100) }

    func session(_ id: String) async throws -> AgentSession {
        try await server.session(id).required("sessions", of: server.server)
    }

    /// The tool servers, without their tools.
    ///
    /// - Parameter project: the project in whose folder their tools would work.
    func toolServers(
        _ scope: AgentToolScope = .all, project: String?, telling tell: (String) -> Void
    ) async throws -> Offered<[GatewayToolServer]> {
        try await server.toolServers(scope, project: project).map { rows in
            try plain(rows, "tool servers", telling: tell) { $0.id }.map { GatewayToolServer(row: $0) }
        }
    }

    /// The same for a caller that cannot do without them.
    func requiredToolServers(project: String?, telling tell: (String) -> Void) async throws -> [GatewayToolServer] {
        try await toolServers(project: project, telling: tell).required("tool servers", of: server.server)
    }

    /// The tools of one server.
    func tools(
        of toolServer: String, project: String?, telling tell: (String) -> Void
    ) async throws -> Offered<[AgentTool]> {
        try await server.tools(ofServer: toolServer, project: project).map { tools in
            try plain(tools, "tools", telling: tell) { $0.name }
        }
    }

    /// The same servers with their tools, which those are asked for that were not yet.
    func withTools(
        _ servers: [GatewayToolServer], project: String?, telling tell: (String) -> Void
    ) async throws -> [GatewayToolServer] {
        guard servers.count <= Self.most else {
            throw MCPError(
                .limit,
                "\(name) has \(servers.count) tool servers, and at most \(Self.most) are asked for their tools; choose whole servers"
            )
        }
        var filled = servers
        var count = 0
        for index in filled.indices where filled[index].tools == nil {
            let tools = try await tools(of: filled[index].id, project: project, telling: tell)
                .required("lists of tools", of: server.server)
            filled[index].tools = tools.map(\.name)
            count += tools.count
            try check(count, "tools")
        }
        return filled
    }

    /// Sets what a session uses, and returns what the gateway applies.
    func choose(_ selection: ToolSelection, in session: String) async throws -> ToolSelection {
        do {
            return try await server.setTools(selection, ofSession: session)
                .required("choices of a session's tools", of: server.server)
        } catch let error as AgentServerError where error.kind == .notFound && error.subject == .tool {
            // Such as one that the session had chosen, and that the gateway does not have any more.
            let words = "--gateway \(name) \(PlainText.escape(session, limit: 100))"
            throw ServerError(
                .unknownTool, "\(error.message); 'martlet mcp gateway use \(words) --reset' uses all tools again")
        }
    }

    /// The most projects that are looked at for tool servers that only projects have.
    private static let mostProjects = 3

    /// Some of its projects, those that were used last; none of a gateway without a list of them.
    func projects() async throws -> [AgentProject] {
        guard let catalog = server as? any ProjectCatalog else { return [] }
        let all = try await catalog.projects().value?.rows ?? []
        let start = Timestamp(microseconds: 0)
        return Array(all.sorted { $0.updated ?? start > $1.updated ?? start }.prefix(Self.mostProjects))
    }

    private func check(_ count: Int, _ what: String) throws(MCPError) {
        guard count > limits.entries else { return }
        throw MCPError(.limit, "\(name) lists more than \(limits.entries) \(what) (mcp.list-limit)")
    }

    /// The rows whose names can be shown as they are, each name once, since a row is chosen by its name.
    private func plain<Row>(
        _ rows: [Row], _ what: String, telling tell: (String) -> Void, named name: (Row) -> String
    ) throws(MCPError) -> [Row] {
        try check(rows.count, what)
        var seen: Set<String> = []
        let plain = rows.filter { row in
            let name = name(row)
            return !name.isEmpty && PlainText.escape(name) == name && seen.insert(name).inserted
        }
        if plain.count < rows.count {
            tell(
                "\(rows.count - plain.count) of the \(what) that \(self.name) lists are left out: their names are repeated, or have characters that are not shown"
            )
        }
        return plain
    }
}

extension Gateway {
    /// The gateway with this name; without a name that of the profile in use, or else the only one.
    ///
    /// - Returns: nil if no name is given and there is no gateway.
    static func find(_ name: String?, _ services: MCPServices, _ registry: Registry) async throws -> Gateway? {
        var known: [(id: String, gateway: Result<Gateway, any Error>)] = []
        for provider in registry.all((any ModelProvider).self) where provider.runsTools {
            do {
                guard let server = try await provider.agentServer() else { continue }
                let gateway = Gateway(provider.id, server, services.settings.limits)
                known.append((provider.id, .success(gateway)))
            } catch {
                // One that is set up wrongly must not hide the others, and is an error once it is chosen.
                known.append((provider.id, .failure(error)))
            }
        }
        if let found = known.first(where: { $0.id == name ?? services.profile }) { return try found.gateway.get() }
        let names = known.map(\.id)
        if let name { throw unknown(name, among: names) }
        guard names.count > 1 else { return try known.first?.gateway.get() }
        throw ServerError(
            .badArguments,
            "there are several agent gateways; choose one by --gateway: \(names.map { PlainText.escape($0) }.joined(separator: ", "))"
        )
    }

    /// The same for a caller that cannot do without one.
    static func required(_ name: String?, _ services: MCPServices, _ registry: Registry) async throws -> Gateway {
        if let found = try await find(name, services, registry) { return found }
        throw ServerError(.unknownServer, none)
    }

    /// What to do while there is no gateway.
    static let none = "no agent gateway is set up; 'martlet auth server add NAME ADDRESS --kind gateway' adds one"

    private static func unknown(_ name: String, among names: [String]) -> ServerError {
        let shown = PlainText.escape(name).quotedForMessage
        guard !names.isEmpty else { return ServerError(.unknownServer, "\(shown) is not an agent gateway; \(none)") }
        return ServerError(
            .unknownServer,
            "there is no agent gateway \(shown)\(Suggestion.text(for: name, among: names)); known: \(names.map { PlainText.escape($0) }.joined(separator: ", "))"
        )
    }
}
