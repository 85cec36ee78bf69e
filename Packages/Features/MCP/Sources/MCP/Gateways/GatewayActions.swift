import Capabilities
import JSON
import MCPServers
import Registry
import Settings

/// The tools of agent gateways elsewhere, and the choice among them for one session there.
struct GatewayActions {
    let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var all: [Action] { [list, tools, use] }

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
            .option("session", "Id of a session of the gateway, to see what it uses", as: String?.self)
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
            }
            return context.rows(
                GatewayServerRow.rows(of: gateway, servers, choice, project: place, session: chosen?.id),
                orSay: "\(gateway.name) has no such tool servers")
        }
        .sending()
        .details(
            "They run where the gateway runs; a session there uses them. Your own servers are in 'martlet mcp list'."
        )
        .example("martlet mcp gateway list --gateway lab", "The tool servers of the gateway of one profile")
        .example("martlet mcp gateway list --session 3f9a51c2", "What one session uses")
    }

    private var tools: Action {
        Action(
            "mcp.gateway.tools", "List the tools of a tool server of an agent gateway", .reads,
            .argument("server", "Name of the tool server, as 'mcp gateway list' shows it", as: String.self),
            Self.gateway, Self.project,
            .option("session", "Id of a session of the gateway, to see what it uses", as: String?.self)
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
            let selection = chosen.map { $0.tools ?? ToolSelection() }
            if let selection, selection.servers == nil {
                // Only its row says whether sessions use it by default.
                let all = try await gateway.toolServers(project: place, telling: context.notice).value ?? []
                row = all.first { $0.id == server }.map { GatewayToolServer(row: $0.row, tools: row.tools) } ?? row
            }
            let choice = selection.map { [row] in GatewayChoice($0, among: [row]) }
            return context.rows(
                tools.map { tool in
                    GatewayToolRow(
                        gateway: gateway, server: server, session: chosen?.id,
                        isOn: choice.map { [row] in $0.uses(tool.name, of: row) }, tool: tool)
                }, orSay: "\(PlainText.escape(server)) of \(gateway.name) has no tools")
        }
        .sending()
        .example("martlet mcp gateway tools git --gateway lab", "With what each one does, in the words of the gateway")
    }

    private var use: Action {
        Action(
            "mcp.gateway.use", "Choose the tools of a session of an agent gateway", .writes,
            taking: GatewayUseArguments.self
        ) { [services] context, arguments in
            guard arguments.changes else {
                throw ServerError(
                    .badArguments,
                    "nothing is to be changed: give --on, --off, --priority, --audit or --reset; 'martlet mcp gateway list --session \(PlainText.escape(arguments.session))' shows what is used"
                )
            }
            let gateway = try await Gateway.required(arguments.gateway, services, context.registry)
            context.progress("asking \(gateway.name)")
            let session = try await gateway.session(arguments.session)
            var servers = try await gateway.requiredToolServers(project: session.project, telling: context.notice)
            var selection = session.tools ?? ToolSelection()
            // Who is watched does not end that by starting over.
            if arguments.isReset { selection = ToolSelection(auditLog: selection.auditLog) }
            if let audit = arguments.audit { selection.auditLog = audit == .on }
            let words = try GatewayWords(arguments, among: servers, of: gateway)
            if selection.tools != nil || words.nameTools {
                servers = try await gateway.withTools(servers, project: session.project, telling: context.notice)
            }
            var choice = GatewayChoice(selection, among: servers)
            try words.apply(to: &choice, among: servers)
            for server in choice.unlisted {
                let reason = server.row.problem.map { ": \(PlainText.escape($0))" } ?? ""
                context.notice(
                    "\(server.id) lists no tools now\(reason); the session uses none of it until '--on \(server.id)'")
            }
            let applied = try await gateway.choose(choice.selection, in: session.id)
            if applied != choice.selection {
                context.notice("\(gateway.name) did not take all of it; what is shown counts")
            }
            return GatewayUse(
                gateway: gateway, session: session, choice: GatewayChoice(applied, among: servers))
        }
        .sending()
        .byName()
        .details(
            "It counts from the session's next turn on, and only there. Tools are named as server/tool. What is not switched "
                + "off stays on; after --off, what the gateway gets later is off until --on or --reset."
        )
        .example("martlet mcp gateway use 3f9a51c2 --off git/git_push", "Without one tool")
        .example("martlet mcp gateway use 3f9a51c2 --reset --priority git,time", "With everything, git first")
    }

    private static func session(_ id: String?, of gateway: Gateway) async throws -> AgentSession? {
        guard let id else { return nil }
        return try await gateway.session(id)
    }
}

/// The arguments of `mcp.gateway.use`.
struct GatewayUseArguments: ActionArguments {
    /// Whether something is done.
    enum Switch: String, Choice { case on, off }

    private(set) var session = ""
    private(set) var gateway: String?
    private(set) var on: [String] = []
    private(set) var off: [String] = []
    private(set) var priority: [String] = []
    private(set) var audit: Switch?
    private(set) var isReset = false

    static let bindings = [
        bind(\.session, .argument("session", "Id of the session, as the gateway gave it")),
        bind(
            \.gateway,
            .option(
                "gateway", "Profile of the gateway; by default the one in use, or the only one",
                completion: GatewayActions.names)),
        bind(\.on, .option("on", "Tool server, or server/tool, to use")),
        bind(\.off, .option("off", "Tool server, or server/tool, not to use")),
        bind(\.priority, .option("priority", "Tool servers whose tools come first, in this order")),
        bind(\.audit, .option("audit", "Whether the gateway writes every call into its audit log: on or off")),
        bind(\.isReset, .flag("reset", "Use everything again first, as the gateway does by default")),
    ]

    init() {}

    var changes: Bool { isReset || audit != nil || !on.isEmpty || !off.isEmpty || !priority.isEmpty }
}

/// What the words of `mcp.gateway.use` name.
struct GatewayWords {
    private struct Word {
        let server: GatewayToolServer
        let tool: String?
        let isOn: Bool
    }

    private let words: [Word]
    private let priority: [String]
    private let gateway: Gateway

    /// - Throws: if a word names no server of the gateway.
    init(
        _ arguments: GatewayUseArguments, among servers: [GatewayToolServer], of gateway: Gateway
    ) throws(ServerError) {
        self.gateway = gateway
        var words: [Word] = []
        for (given, isOn) in [(arguments.on, true), (arguments.off, false)] {
            for word in given { words.append(try Self.word(word, isOn, servers, gateway)) }
        }
        self.words = words
        priority = arguments.priority.flatMap { $0.split(separator: ",").map(String.init) }
        for name in priority where !servers.contains(where: { $0.id == name }) {
            throw Self.unknown(name, servers, gateway)
        }
    }

    /// Whether single tools are named, so that servers must be asked for theirs.
    var nameTools: Bool { words.contains { $0.tool != nil } }

    /// - Parameter servers: the same as before, with their tools if `nameTools`.
    func apply(to choice: inout GatewayChoice, among servers: [GatewayToolServer]) throws(ServerError) {
        for word in words {
            guard let server = servers.first(where: { $0.id == word.server.id }) else { continue }
            guard let tool = word.tool else {
                choice.set(server, isOn: word.isOn)
                continue
            }
            let known = server.tools ?? []
            guard known.contains(tool) else {
                let hint = Suggestion.text(for: tool, among: known)
                throw ServerError(
                    .unknownTool,
                    "the tool server \(server.id) of \(gateway.name) has no tool \(PlainText.escape(tool).quotedForMessage)\(hint)"
                )
            }
            choice.set(tool, of: server, isOn: word.isOn)
        }
        if !priority.isEmpty { choice.set(priority: priority) }
    }

    /// Names of servers can have slashes too.
    private static func word(
        _ word: String, _ isOn: Bool, _ servers: [GatewayToolServer], _ gateway: Gateway
    ) throws(ServerError) -> Word {
        if let server = servers.first(where: { $0.id == word }) { return Word(server: server, tool: nil, isOn: isOn) }
        let holders = servers.filter { word.hasPrefix("\($0.id)/") }
        guard let server = holders.max(by: { $0.id.count < $1.id.count }) else {
            throw unknown(word.split(separator: "/").first.map(String.init) ?? word, servers, gateway)
        }
        return Word(server: server, tool: String(word.dropFirst(server.id.count + 1)), isOn: isOn)
    }

    private static func unknown(_ name: String, _ servers: [GatewayToolServer], _ gateway: Gateway) -> ServerError {
        let hint = Suggestion.text(for: name, among: servers.map(\.id))
        return ServerError(
            .unknownServer,
            "\(gateway.name) has no tool server \(PlainText.escape(name).quotedForMessage)\(hint); 'martlet mcp gateway list' shows them"
        )
    }
}
