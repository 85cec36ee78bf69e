import Capabilities
import MCPServers
import Registry

/// Chooses the tools of one session of an agent gateway, or of its new sessions.
struct GatewayUseAction {
    let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var all: [Action] { [use] }

    private var use: Action {
        Action(
            "mcp.gateway.use", "Choose the tools of sessions of an agent gateway", .writes,
            taking: GatewayUseArguments.self
        ) { context, arguments in
            guard arguments.isDefault != (arguments.session != nil) else {
                throw ServerError(
                    .badArguments,
                    "name either a session or --default, which chooses for new sessions; 'martlet mcp gateway list' shows what those use"
                )
            }
            guard arguments.changes else {
                let session = arguments.session.map { " --session \(PlainText.escape($0))" } ?? ""
                throw ServerError(
                    .badArguments,
                    "nothing is to be changed: give --on, --off, --priority, --audit or --reset; 'martlet mcp gateway list\(session)' shows what is used"
                )
            }
            if let session = arguments.session { return try await choose(in: session, arguments, context) }
            return try await chooseDefault(arguments, context)
        }
        .sending()
        .byName()
        .details(
            "For a session it counts from its next turn on, and only there. With --default it is kept here and counts for "
                + "the sessions that your chats start there from now on, with --project for those of one project, which "
                + "starts from what you chose for all. Tools are named as server/tool. What is not switched off stays on; "
                + "once a session has started without something, what the gateway gets later is off in it until --on or "
                + "--reset."
        )
        .example("martlet mcp gateway use 3f9a51c2 --off git/git_push", "Without one tool")
        .example("martlet mcp gateway use 3f9a51c2 --reset --priority git,time", "With everything, git first")
        .example("martlet mcp gateway use --default --off git/git_push --audit on", "In all sessions that you start")
    }

    // MARK: A session

    private func choose(
        in id: String, _ arguments: GatewayUseArguments, _ context: ActionContext
    ) async throws -> GatewayUse {
        let gateway = try await Gateway.required(arguments.gateway, services, context.registry)
        context.progress("asking \(gateway.name)")
        let session = try await gateway.session(id)
        if let project = arguments.project, project != session.project {
            throw ServerError(
                .badArguments,
                "the session \(PlainText.escape(id)) is not in the project \(PlainText.escape(project)); leave --project out"
            )
        }
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
        for word in try words.checked(among: servers) { choice.set(word) }
        if !words.priority.isEmpty { choice.set(priority: words.priority) }
        for notice in choice.notices { context.notice("\(notice), until '--on' names it") }
        let applied = try await gateway.choose(choice.selection, in: session.id)
        if applied != choice.selection {
            context.notice("\(gateway.name) did not take all of it; what is shown counts")
        }
        return GatewayUse(
            gateway: gateway, session: session.id, project: session.project, audit: applied.auditLog,
            choice: GatewayChoice(applied, among: servers))
    }

    // MARK: New sessions

    private func chooseDefault(_ arguments: GatewayUseArguments, _ context: ActionContext) async throws -> GatewayUse {
        let project = arguments.project
        if project == nil { try services.requireRemembering(or: "for a session, or with --project") }
        let gateway = try await Gateway.required(arguments.gateway, services, context.registry)
        guard arguments.changesMore else {
            // It needs nothing of the gateway, which may lack such choices or be away.
            try await keep(for: gateway, project) { $0 = GatewayDefault() }
            let place = project.map { " in the project \(PlainText.escape($0, limit: 100))" } ?? ""
            context.notice("what you chose for new sessions of \(gateway.name)\(place) is forgotten")
            return GatewayUse(gateway: gateway, session: nil, project: project, audit: nil, choice: nil)
        }
        context.progress("asking \(gateway.name)")
        var servers = try await gateway.requiredToolServers(project: project, telling: context.notice)
        if project == nil, !GatewayWords.fit(arguments, among: servers) {
            // Sessions of projects have more, such as the files of the project.
            servers += try await gateway.projectServers(
                besides: servers, until: { GatewayWords.fit(arguments, among: $0) }, telling: context.notice)
        }
        let words = try GatewayWords(arguments, among: servers, of: gateway)
        if words.nameTools {
            servers = try await gateway.withTools(servers, project: project, telling: context.notice)
        }
        let checked = try words.checked(among: servers)
        try await keep(for: gateway, project) { chosen in
            if arguments.isReset { chosen = GatewayDefault() }
            for word in checked { chosen.set(word) }
            if !words.priority.isEmpty { chosen.set(priority: words.priority) }
            if let audit = arguments.audit { chosen.audit = audit == .on }
        }
        let chosen = try await services.chosen(forNewSessionsOf: gateway.id, project: project) ?? GatewayDefault()
        let choice = try await gateway.choice(
            of: chosen, among: servers, project: project, telling: context.notice)
        for notice in choice.notices { context.notice(notice) }
        return GatewayUse(
            gateway: gateway, session: nil, project: project, audit: chosen.audit, choice: choice)
    }

    private func keep(
        for gateway: Gateway, _ project: String?, _ change: @escaping @Sendable (inout GatewayDefault) -> Void
    ) async throws {
        try await services.records.choose(
            forNewSessionsOf: gateway.id, project: project, at: services.surroundings.now(), change)
    }
}

extension GatewayChoice {
    fileprivate mutating func set(_ word: GatewayWords.Word) {
        if let tool = word.tool {
            set(tool, of: word.server, isOn: word.isOn)
        } else {
            set(word.server, isOn: word.isOn)
        }
    }
}

extension GatewayDefault {
    fileprivate mutating func set(_ word: GatewayWords.Word) {
        if let tool = word.tool {
            set(tool: tool, of: word.server.id, isOn: word.isOn)
        } else {
            set(server: word.server.id, isOn: word.isOn)
        }
    }
}

/// The arguments of `mcp.gateway.use`.
struct GatewayUseArguments: ActionArguments {
    /// Whether something is done.
    enum Switch: String, Choice { case on, off }

    private(set) var session: String?
    private(set) var isDefault = false
    private(set) var gateway: String?
    private(set) var project: String?
    private(set) var on: [String] = []
    private(set) var off: [String] = []
    private(set) var priority: [String] = []
    private(set) var audit: Switch?
    private(set) var isReset = false

    static let bindings = [
        bind(\.session, .argument("session", "Id of the session, as the gateway gave it")),
        bind(\.isDefault, .flag("default", "Choose for new sessions, instead of one that exists")),
        bind(
            \.gateway,
            .option(
                "gateway", "Profile of the gateway; by default the one in use, or the only one",
                completion: GatewayActions.names)),
        bind(\.project, .option("project", "With --default: only for new sessions of the project with this id")),
        bind(\.on, .option("on", "Tool server, or server/tool, to use")),
        bind(\.off, .option("off", "Tool server, or server/tool, not to use")),
        bind(\.priority, .option("priority", "Tool servers whose tools come first, in this order")),
        bind(\.audit, .option("audit", "Whether the gateway writes every call into its audit log: on or off")),
        bind(\.isReset, .flag("reset", "Use everything again first, as the gateway does by default")),
    ]

    init() {}

    var changes: Bool { isReset || changesMore }

    /// Whether it does not only forget what was chosen.
    var changesMore: Bool { audit != nil || !on.isEmpty || !off.isEmpty || !priority.isEmpty }
}
