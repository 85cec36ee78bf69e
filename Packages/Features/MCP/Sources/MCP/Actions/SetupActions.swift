import Capabilities
import JSON
import MCPKit
import MCPServers
import Registry

/// The actions that set servers up.
struct SetupActions {
    let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var all: [Action] { [add, remove, enable, disable, test] }

    private var add: Action {
        Action("mcp.add", "Add an MCP server", .writes, taking: AddArguments.self) { [services] context, arguments in
            let entry = try arguments.entry()
            if let problem = ServerName.problem(arguments.name) { throw ServerError(.badEntry, problem) }
            let directory = services.directory(services.projectFolder)
            if let other = directory.servers.first(where: { $0.name == arguments.name && $0.isOwn }),
                !arguments.replaces
            {
                throw ServerError(
                    .exists,
                    "there is a server \(arguments.name) already (\(PlainText.escape(other.target, limit: 200))); choose another name, or --replace it"
                )
            }
            let server = ConfiguredServer(
                name: arguments.name, entry: entry, origin: .own("your settings"), folder: services.projectFolder)
            if arguments.isTested {
                // It is kept only if it works, since nobody looks again later.
                do { _ = try await services.probe(server, context, isSetUp: false) } catch let error
                    where !(error is CancellationError)
                {
                    context.notice("it was not added; --no-test adds it without a look")
                    throw error
                }
            }
            let name = arguments.name
            let file = try await context.registry.one((any SettingsWriter).self).edit { _ in
                [(["mcp", "servers", name], entry.json)]
            }
            // Whoever adds it has seen it. What it runs of the project's files is asked about when they change.
            if let agreement = try services.agreement(to: server) {
                try await agreement.remember(in: context.registry.one((any FolderRules).self))
            }
            context.notice("added to \(PlainText.escape(file))")
            return try await services.row(server)
        }
        .byName()
        .sending()
        .details(
            "It is started or asked once, to see that it works and which tools it has. After -- every word belongs to the "
                + "command of the server. A secret belongs into the vault: --env GITHUB_TOKEN='${secret:github}' fills in the "
                + "secret 'github' when the server starts."
        )
        .example("martlet mcp add git -- uvx mcp-server-git --repository .", "A program")
        .example("martlet mcp add tools https://tools.example/mcp", "A server that is reached by HTTP")
        .example(
            "martlet mcp add github --env TOKEN='${secret:github}' -- docker run -i --rm -e TOKEN image",
            "A program that gets a secret of the vault")
    }

    private func named(_ summary: String) -> Parameter<String> {
        .argument("name", summary, completion: ServerCompletion.names(services))
    }

    private var remove: Action {
        Action("mcp.remove", "Remove an MCP server", .writes, named("Name of the server")) { [services] context, name in
            let server = try await services.server(named: name, telling: context.notice)
            let row = try await services.row(server)
            try Self.requireOwn(
                server, "removed", "delete it there, or switch it off with 'martlet mcp disable \(name)'")
            try await context.registry.one((any SettingsWriter).self).change([(["mcp", "servers", name], nil)])
            await services.pool.end(server)
            try await services.forgetInputs(of: server, telling: context.notice)
            try await services.records.forget(services.key(server))
            return row
        }
        .byName()
    }

    private static func requireOwn(_ server: ConfiguredServer, _ verb: String, _ mend: String) throws(ServerError) {
        guard !server.isOwn || server.platform != nil else { return }
        throw ServerError(
            .badEntry,
            "the server \(server.name) is set up in \(PlainText.escape(server.place)) and cannot be \(verb) here; \(mend)"
        )
    }

    private var enable: Action { switching("enable", "Switch an MCP server on", true) }
    private var disable: Action { switching("disable", "Switch an MCP server off", false) }

    /// A server of a project is switched for that folder, since its file belongs to others too.
    private func switching(_ verb: String, _ summary: String, _ isOn: Bool) -> Action {
        Action("mcp.\(verb)", summary, .writes, named("Name of the server")) { [services] context, name in
            let server = try await services.server(named: name, telling: context.notice)
            if server.platform != nil { return try await Self.switching(server, isOn, services) }
            if server.isOwn {
                try await context.registry.one((any SettingsWriter).self).change([
                    (["mcp", "servers", name, "enabled"], isOn ? nil : false)
                ])
            }
            if !server.isOwn || isOn {
                var choice = try await services.records.choice(.project, server.folder) ?? ServerChoice()
                choice.servers[name] = isOn ? nil : false
                try await services.records.choose(
                    choice.isEmpty ? nil : choice, .project, server.folder, at: services.surroundings.now())
            }
            if !isOn { await services.pool.end(server) }
            var changed = server.entry
            if server.isOwn { changed.isEnabled = isOn }
            return try await services.row(
                ConfiguredServer(name: name, entry: changed, origin: server.origin, folder: server.folder))
        }
        .byName()
    }

    /// A tool of a platform has no entry, so that it is switched by the person's choice for all conversations.
    private static func switching(
        _ server: ConfiguredServer, _ isOn: Bool, _ services: MCPServices
    ) async throws -> ServerRow {
        try services.requireRemembering()
        var choice = try await services.records.choice(.user, "") ?? ServerChoice()
        choice.servers[server.name] = isOn ? nil : false
        try await services.records.choose(
            choice.isEmpty ? nil : choice, .user, "", at: services.surroundings.now())
        if !isOn { await services.pool.end(server) }
        services.pool.changes.raise()
        return try await services.row(server)
    }

    private var test: Action {
        Action(
            "mcp.test", "Connect to an MCP server and show what it offers", .writes, named("Name of the server"),
            .flag("trace", "Show each message"), TrafficOptions.record,
            .flag("inputs", "Ask again for what the server wants to know from you")
        ) { [services] context, name, isTraced, record, asksInputs in
            let server = try await services.server(named: name, telling: context.notice)
            try await services.agree(to: server, asking: context.interaction, telling: context.notice)
            if asksInputs {
                try await services.fill(server, asking: context.interaction, again: true, telling: context.notice)
            }
            return try await services.probe(
                server, context, watching: TrafficOptions(isShown: isTraced, file: record))
        }
        .byName()
        .sending()
        .details(
            "A server that comes with a project is shown first, and you are asked whether to use it. A server that wants "
                + "you to sign in may open your browser. --record keeps what goes over the connection, without secrets, as far "
                + "as they are known; 'martlet mcp replay' serves it."
        )
        .question("mcp.agree.SERVER", "Whether to start a server that comes with the project: true or false")
        .question("mcp.agree.SERVER.NAME", "Whether it gets this variable, which looks like a secret: true or false")
        .question("mcp.install.SERVER", "Whether to run the command that installs the server's program: true or false")
        .question("mcp.input.SERVER.NAME", "What the server asks for before it starts")
    }
}

/// The arguments of `mcp.add`.
struct AddArguments: ActionArguments {
    private(set) var name = ""
    private(set) var words: [String] = []
    private(set) var variables: [String] = []
    private(set) var headers: [String] = []
    private(set) var folder: String?
    private(set) var tools: [String] = []
    private(set) var isRequired = false
    private(set) var replaces = false
    private(set) var isTested = true

    static let bindings = [
        bind(\.name, .argument("name", "Name that you want to know it by")),
        bind(\.words, .argument("command", "Program and its arguments, or an address")),
        bind(\.variables, .option("env", "Variable of the program, as NAME=VALUE", short: "e")),
        bind(\.headers, .option("header", "Header of each request, as NAME=VALUE")),
        bind(\.folder, .option("cwd", "Folder that the program starts in; by default that of the project")),
        bind(\.tools, .option("tool", "Offer only this tool; may be given several times")),
        bind(\.isRequired, .flag("required", "Let turns wait for it and fail without it")),
        bind(\.replaces, .flag("replace", "Replace a server of this name")),
        bind(\.isTested, .flag("test", "Connect to it first", default: true)),
    ]

    init() {}

    func entry() throws -> ServerEntry {
        guard let first = words.first else {
            throw ServerError(
                .badEntry, "a server needs a command to start, or an address such as https://tools.example/mcp")
        }
        var entry: ServerEntry
        if words.count == 1, first.contains("://") {
            entry = ServerEntry(.address(first))
            entry.headers = try Self.pairs(headers, "--header")
            guard variables.isEmpty else {
                throw ServerError(.badEntry, "--env is for programs; a server at an address gets --header")
            }
        } else {
            entry = ServerEntry(.program(first, Array(words.dropFirst())))
            entry.environment = try Self.pairs(variables, "--env")
            guard headers.isEmpty else {
                throw ServerError(.badEntry, "--header is for addresses; a program gets --env")
            }
        }
        (entry.folder, entry.isRequired) = (folder, isRequired)
        if !tools.isEmpty { entry.tools = tools }
        return entry
    }

    private static func pairs(_ words: [String], _ option: String) throws(ServerError) -> [String: String] {
        var found: [String: String] = [:]
        for word in words {
            guard let equals = word.firstIndex(of: "="), equals > word.startIndex else {
                throw ServerError(
                    .badEntry, "\(option) needs NAME=VALUE, not \(PlainText.escape(word).quotedForMessage)")
            }
            found[String(word[..<equals])] = String(word[word.index(after: equals)...])
        }
        return found
    }
}

/// What a server offers.
struct ServerOffer: Record {
    let server: String
    let info: MCPServerInfo
    let tools: [ListedTool]
    let resources: Int
    let prompts: Int
    let duration: Duration

    static let fields: [Field<ServerOffer>] = [
        Field("server", "Name of the server", .name) { $0.server },
        Field("identity", "What it says it is") {
            PlainText.escape("\($0.info.identity.name) \($0.info.identity.version)")
        },
        Field("revision", "Revision of the protocol that is spoken") { $0.info.version.rawValue },
        Field("took", "How long it took to start and list everything") { $0.duration },
        Field("resources", "Number of resources") { $0.resources },
        Field("prompts", "Number of prompts") { $0.prompts },
        Field("tools", "Its tools") { $0.tools },
    ]
}

extension MCPServices {
    /// Connects with the person there, who may be asked to sign in or to trust a certificate, and remembers the tools.
    func probe(
        _ server: ConfiguredServer, _ context: ActionContext, watching watch: TrafficOptions = TrafficOptions(),
        isSetUp: Bool = true
    ) async throws -> ServerOffer {
        // Whoever is not the person may start only what they may run anyway; hosts are checked where they are reached.
        if case .program(let command, _) = server.entry.way {
            try context.caller.grant.check(.program(command))
        }
        try await provide(server, asking: context.interaction, isSetUp: isSetUp, telling: context.notice)
        try await fill(server, asking: context.interaction, telling: context.notice)
        let stopwatch = Stopwatch(context.host.clock)
        context.progress("connecting to \(server.name)")
        let offer = try await connected(to: server, context, watching: watch) { [self] client in
            let info = try await client.server()
            let tools = try await client.tools()
            let resources = try await client.resources().count
            let prompts = try await client.prompts().count
            return ServerOffer(
                server: server.name, info: info, tools: try await listedTools(of: server, tools), resources: resources,
                prompts: prompts, duration: stopwatch.time())
        }
        try await records.learn(
            offer.tools.map { (name: $0.tool.name, listed: $0.tool.json) }, of: key(server), at: surroundings.now())
        return offer
    }

    /// Does something with a server of its own, which ends afterwards. Unlike the server that all share, it belongs to the
    /// action, so that everything that connecting needs is asked of the action's person.
    func connected<Value: Sendable>(
        to server: ConfiguredServer, _ context: ActionContext, watching watch: TrafficOptions = TrafficOptions(),
        _ body: @escaping @Sendable (MCPClient) async throws -> Value
    ) async throws -> Value {
        let (watcher, recorder) = try watch.watcher(of: server, context)
        let result = try await serverSurroundings(for: server).whileConnected(
            to: server, telling: context.notice, asking: context.caller, watchedBy: watcher, body)
        try recorder?.check()
        return result
    }
}
