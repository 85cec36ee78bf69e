import Capabilities
import MCPServers

/// What the person has chosen for new sessions of gateways, as Chat sends it with the message that starts one.
final class GatewayDefaults: AgentToolDefaults {
    private let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    func tools(
        forNewSessionOf server: any AgentServer, profile: String, project: String?,
        telling tell: @escaping @Sendable (String) -> Void
    ) async throws -> Offered<NewSessionTools>? {
        guard let chosen = try await services.chosen(forNewSessionsOf: profile, project: project) else { return nil }
        let gateway = Gateway(profile, server, services.settings.limits)
        return try await gateway.choice(of: chosen, project: project, telling: tell).map { choice in
            for notice in choice.notices { tell(notice) }
            return NewSessionTools(chosen, choice)
        }
    }
}

extension MCPServices {
    /// The choice for new sessions of a gateway in a project. That of the project counts over that for all; nil without any.
    func chosen(forNewSessionsOf gateway: String, project: String?) async throws -> GatewayDefault? {
        var chosen: GatewayDefault?
        if settings.remembersSelection {
            chosen = try await records.chosen(forNewSessionsOf: gateway, project: nil)
        }
        guard let project, let own = try await records.chosen(forNewSessionsOf: gateway, project: project) else {
            return chosen
        }
        return own.over(chosen ?? GatewayDefault())
    }
}

extension Gateway {
    /// What new sessions use by a choice, of what the gateway has now.
    func choice(
        of chosen: GatewayDefault, project: String?, telling tell: (String) -> Void
    ) async throws -> Offered<GatewayChoice> {
        guard case .value(let servers) = try await toolServers(project: project, telling: tell) else {
            return .notOffered
        }
        return .value(try await choice(of: chosen, among: servers, project: project, telling: tell))
    }

    /// The same among these servers, which are asked for their tools if the choice names some.
    func choice(
        of chosen: GatewayDefault, among servers: [GatewayToolServer], project: String?, telling tell: (String) -> Void
    ) async throws -> GatewayChoice {
        let namesTools = servers.contains { server in
            chosen.choice.tools.keys.contains { $0.hasPrefix("\(server.id)/") }
        }
        return GatewayChoice(
            chosen, among: namesTools ? try await withTools(servers, project: project, telling: tell) : servers)
    }
}

extension Gateway {
    /// Tool servers that only projects have, such as their files, with their tools: those of the projects that were used
    /// last, until nothing is missing.
    ///
    /// - Parameter known: the servers that every session has.
    func projectServers(
        besides known: [GatewayToolServer], until hasAll: ([GatewayToolServer]) -> Bool, telling tell: (String) -> Void
    ) async throws -> [GatewayToolServer] {
        var found: [GatewayToolServer] = []
        for project in try await projects() where !hasAll(known + found) {
            let servers = try await toolServers(project: project.id, telling: tell).value ?? []
            let new = servers.filter { server in !(known + found).contains { $0.id == server.id } }
            found += try await withTools(new, project: project.id, telling: tell)
        }
        return found
    }
}

extension GatewayDefault {
    /// What it names and these servers do not have, as it is named.
    func absent(among servers: [GatewayToolServer]) -> [String] {
        let named = Array(choice.servers.keys) + choice.tools.keys
        return named.filter { name in !servers.contains { $0.id == name || name.hasPrefix("\($0.id)/") } }.sorted()
    }
}

extension GatewayChoice {
    /// What new sessions use. What is chosen and not there is passed over.
    init(_ chosen: GatewayDefault, among servers: [GatewayToolServer]) {
        self.init(ToolSelection(auditLog: chosen.audit ?? false), among: servers)
        for server in servers {
            if let isOn = chosen.choice.servers[server.id] { set(server, isOn: isOn) }
        }
        for server in servers {
            for tool in server.tools ?? [] {
                if let isOn = chosen.choice.tools["\(server.id)/\(tool)"] { set(tool, of: server, isOn: isOn) }
            }
        }
        set(priority: (chosen.choice.priority ?? []).filter { id in servers.contains { $0.id == id } })
    }

    /// What the person should know of servers that a list of tools leaves without any.
    var notices: [String] {
        unlisted.map { server in
            let reason = server.row.problem.map { ": \(PlainText.escape($0))" } ?? ""
            return "\(server.id) lists no tools now\(reason), so that none of its tools is used in the session"
        }
    }
}

extension NewSessionTools {
    /// What a request says; what the person has not chosen is left to the gateway.
    fileprivate init(_ chosen: GatewayDefault, _ choice: GatewayChoice) {
        let selection = choice.selection
        self.init(
            servers: selection.servers, tools: selection.tools,
            priority: selection.priority.isEmpty ? nil : selection.priority, auditLog: chosen.audit)
    }
}
