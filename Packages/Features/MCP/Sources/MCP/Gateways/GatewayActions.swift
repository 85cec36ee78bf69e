import Capabilities
import JSON
import MCPServers
import Registry
import Settings

/// The tools of agent gateways elsewhere, and what sessions there use of them.
struct GatewayActions {
    let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var all: [Action] { [list, tools] + GatewayUseAction(services).all }

    /// Profiles only: the gateways are not asked while a word is typed.
    static let names = Completion.dynamic { _, host, _ in
        host.settings.profiles.compactMap { name in
            let profile = ["profiles", name]
            guard host.settings[profile + ["kind"]]?.value.string == ServerKind.gateway.rawValue else { return nil }
            return Completion.Candidate(name, host.settings[profile + ["server"]]?.value.string ?? "")
        }
    }

    private static let gateway = Parameter<String?>.option(
        "gateway", "Profile of the gateway; by default the one in use, or the only one", completion: names)

    private static let project = Parameter<String?>.option(
        "project", "Id of a project of the gateway, as its tools are there")

    private var list: Action {
        Action(
            "mcp.gateway.list", "List the tool servers of an agent gateway", .reads, Self.gateway,
            .option("scope", "Who set them up: all, user or project", default: AgentToolScope.all), Self.project,
            .option(
                "session", "Id of a session of the gateway, to see what it uses; by default new ones", as: String?.self)
        ) { [services] context, name, scope, project, session in
            guard let gateway = try await Gateway.find(name, services, context.registry) else {
                return context.rows([GatewayServerRow](), orSay: Gateway.none)
            }
            context.progress("asking \(gateway.name)")
            let chosen = try await Self.session(session, of: gateway)
            let place = chosen?.project ?? project
            let found = try await gateway.toolServers(scope, project: place, telling: context.notice)
            guard case .value(var servers) = found else {
                return context.rows([], orSay: "\(gateway.name) offers no tool servers")
            }
            var choice: GatewayChoice?
            if let chosen {
                let selection = chosen.tools ?? ToolSelection()
                if selection.tools != nil {
                    servers = try await gateway.withTools(servers, project: place, telling: context.notice)
                }
                choice = GatewayChoice(selection, among: servers)
            } else if let chosen = try await services.chosen(forNewSessionsOf: gateway.id, project: place) {
                choice = try await gateway.choice(of: chosen, among: servers, project: place, telling: context.notice)
                context.notice(Self.words(of: chosen, among: servers, gateway))
            }
            return context.rows(
                GatewayServerRow.rows(of: gateway, servers, choice, project: place, session: chosen?.id),
                orSay: "\(gateway.name) has no such tool servers")
        }
        .sending()
        .details(
            "They run where the gateway runs; a session there uses them. Without --session it is shown what new sessions use, "
                + "with what 'martlet mcp gateway use --default' has chosen. Your own servers are in 'martlet mcp list'."
        )
        .example("martlet mcp gateway list --gateway lab", "The tool servers of the gateway of one profile")
        .example("martlet mcp gateway list --session 3f9a51c2", "What one session uses")
    }

    private var tools: Action {
        Action(
            "mcp.gateway.tools", "List the tools of a tool server of an agent gateway", .reads,
            .argument("server", "Name of the tool server, as 'mcp gateway list' shows it", as: String.self),
            Self.gateway, Self.project,
            .option(
                "session", "Id of a session of the gateway, to see what it uses; by default new ones", as: String?.self)
        ) { [services] context, server, name, project, session in
            let gateway = try await Gateway.required(name, services, context.registry)
            context.progress("asking \(gateway.name)")
            let chosen = try await Self.session(session, of: gateway)
            let place = chosen?.project ?? project
            let found = try await gateway.tools(of: server, project: place, telling: context.notice)
            guard case .value(let tools) = found else {
                return context.rows([GatewayToolRow](), orSay: "\(gateway.name) offers no tool servers")
            }
            var row = GatewayToolServer(row: AgentToolServer(id: server, name: server), tools: tools.map(\.name))
            var stored: GatewayDefault?
            if chosen == nil {
                stored = try await services.chosen(forNewSessionsOf: gateway.id, project: place)
            }
            if chosen.map({ $0.tools?.servers == nil }) ?? stored.map({ $0.choice.servers[server] == nil }) ?? false {
                // Only its row says whether sessions use it by default.
                let all = try await gateway.toolServers(project: place, telling: context.notice).value ?? []
                row = all.first { $0.id == server }.map { GatewayToolServer(row: $0.row, tools: row.tools) } ?? row
            }
            let choice =
                chosen.map { [row] in GatewayChoice($0.tools ?? ToolSelection(), among: [row]) }
                ?? stored.map { [row] in GatewayChoice($0, among: [row]) }
            return context.rows(
                tools.map { tool in
                    GatewayToolRow(
                        gateway: gateway, server: server, project: place, session: chosen?.id,
                        isOn: choice.map { [row] in $0.uses(tool.name, of: row) }, tool: tool)
                }, orSay: "\(PlainText.escape(server)) of \(gateway.name) has no tools")
        }
        .sending()
        .example("martlet mcp gateway tools git --gateway lab", "With what each one does, in the words of the gateway")
    }

    /// What counts for new sessions, as far as the rows do not show it.
    private static func words(
        of chosen: GatewayDefault, among servers: [GatewayToolServer], _ gateway: Gateway
    ) -> String {
        let audit = chosen.audit.map { "; calls go into its audit log: \($0 ? "yes" : "no")" } ?? ""
        let absent = chosen.absent(among: servers).map { PlainText.escape($0) }
        let others = absent.isEmpty ? "" : "; not among these: \(absent.joined(separator: ", "))"
        return "this is what you chose for new sessions of \(gateway.name)\(audit)\(others); "
            + "'martlet mcp gateway use --default --gateway \(gateway.name)' changes it"
    }

    private static func session(_ id: String?, of gateway: Gateway) async throws -> AgentSession? {
        guard let id else { return nil }
        return try await gateway.session(id)
    }
}
