import Capabilities
import JSON
import MCPKit
import MCPServers
import Registry

/// Chooses which servers and tools are used, and where.
struct UseAction {
    let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var all: [Action] { [used, use] }

    private var used: Action {
        Action(
            "mcp.used", "Show which servers and tools are used", .reads,
            .option("session", "Id of a conversation, whose own choice counts too", as: String?.self)
        ) { [services] context, session in
            let folder = services.projectFolder
            var id: String?
            if let session { id = try await conversation(session, context) }
            return context.rows(
                try await rows(folder, id, services.current(folder, telling: context.notice).servers),
                orSay: "no MCP server is set up")
        }
        .example("martlet mcp used", "What a model in this folder would get")
    }

    private var use: Action {
        Action("mcp.use", "Choose which servers and tools are used", .writes, taking: UseArguments.self) {
            [services] context, arguments in
            let folder = services.projectFolder
            let owner = try await owner(arguments, folder, context)
            var choice = try await services.records.choice(arguments.scope, owner) ?? ServerChoice()
            if arguments.isReset { choice = ServerChoice() }
            if arguments.scope == .user { try services.requireRemembering() }
            let known = try await services.current(folder, telling: context.notice).servers
            for (words, isOn) in [(arguments.on, true), (arguments.off, false)] {
                for word in words { try await set(word, isOn, in: &choice, known) }
            }
            if !arguments.priority.isEmpty {
                let names = arguments.priority.flatMap { $0.split(separator: ",").map(String.init) }
                for name in names where !known.contains(where: { $0.name == name }) {
                    throw ServerError(.unknownServer, unknown(name, known))
                }
                choice.priority = names
            }
            guard arguments.changes else {
                throw ServerError(
                    .badArguments,
                    "nothing is to be changed: give --on, --off, --priority or --reset; 'martlet mcp used' shows what is used"
                )
            }
            try await services.records.choose(
                choice.isEmpty ? nil : choice, arguments.scope, owner, at: services.surroundings.now())
            services.pool.changes.raise()
            let session = arguments.scope == .session ? owner : nil
            return try await rows(folder, session, known)
        }
        .byName()
        .details(
            "A conversation starts from what you chose for you, then the project's choice counts, then its own. Tools are "
                + "named as server/tool."
        )
        .byName()
        .example("martlet mcp use --off git/git_push --scope project", "Never offer one tool in this project")
        .example("martlet mcp use --scope session k7f3 --on time --off git", "Only for one conversation")
    }

    /// What the choice belongs to.
    private func owner(_ arguments: UseArguments, _ folder: String, _ context: ActionContext) async throws -> String {
        switch (arguments.scope, arguments.session) {
        case (.user, nil): return ""
        case (.project, nil): return folder
        case (.session, let id?): return try await conversation(id, context)
        case (.session, nil):
            throw ServerError(.badArguments, "--scope session needs the id of the conversation")
        case (_, .some): throw ServerError(.badArguments, "a conversation is named only with --scope session")
        }
    }

    /// The whole id of a conversation, of which the beginning is enough.
    private func conversation(_ id: String, _ context: ActionContext) async throws -> String {
        var found: Set<String> = []
        for store in context.registry.all((any ConversationStore).self) {
            found.formUnion(try await store.conversations(limit: 1_000).map(\.id).filter { $0.hasPrefix(id) })
        }
        // It may be one of a gateway, or of a list that is longer.
        guard found.count > 1 else { return found.first ?? id }
        throw ServerError(
            .badArguments,
            "several conversations begin with \(PlainText.escape(id).quotedForMessage); write more of the id")
    }

    private func set(_ word: String, _ isOn: Bool, in choice: inout ServerChoice, _ known: [ConfiguredServer])
        async throws
    {
        let parts = word.split(separator: "/", maxSplits: 1).map(String.init)
        guard let server = known.first(where: { $0.name == parts.first }) else {
            throw ServerError(.unknownServer, unknown(parts.first ?? word, known))
        }
        guard parts.count > 1 else {
            choice.servers[server.name] = isOn
            return
        }
        if let tools = try await services.knownTools(of: server), !tools.contains(where: { $0.name == parts[1] }) {
            throw ServerError(
                .unknownTool,
                "the MCP server \(server.name) has no tool \(PlainText.escape(parts[1]).quotedForMessage)\(Suggestion.text(for: parts[1], among: tools.map(\.name)))"
            )
        }
        choice.tools["\(server.name)/\(parts[1])"] = isOn
    }

    private func unknown(_ name: String, _ known: [ConfiguredServer]) -> String {
        "there is no MCP server \(PlainText.escape(name).quotedForMessage)\(Suggestion.text(for: name, among: known.map(\.name)))"
    }

    private func rows(_ folder: String, _ session: String?, _ known: [ConfiguredServer]) async throws -> [UseRow] {
        let choice = try await services.choice(folder: folder, conversation: session)
        var rows: [UseRow] = []
        for (place, name) in choice.sorted(known.map(\.name)).enumerated() {
            guard let server = known.first(where: { $0.name == name }) else { continue }
            let isOn = server.entry.isEnabled && choice.uses(server: name)
            let tools = try await services.knownTools(of: server) ?? []
            let off = tools.map(\.name).filter {
                !choice.uses(tool: $0, of: name) || server.entry.tools?.contains($0) == false
            }
            rows.append(
                UseRow(
                    name: name, isOn: isOn, place: place + 1, tools: tools.count - off.count, off: off))
        }
        return rows
    }
}

/// The arguments of `mcp.use`.
struct UseArguments: ActionArguments {
    private(set) var session: String?
    private(set) var scope = ServerChoice.Scope.user
    private(set) var on: [String] = []
    private(set) var off: [String] = []
    private(set) var priority: [String] = []
    private(set) var isReset = false

    static let bindings = [
        bind(
            \.session,
            .argument(
                "session", "Id of the conversation, with --scope session",
                completion: .like("conversation", of: "chat.show"))),
        bind(\.scope, .option("scope", "user, project or session", default: ServerChoice.Scope.user)),
        bind(\.on, .option("on", "Server, or server/tool, to use")),
        bind(\.off, .option("off", "Server, or server/tool, not to use")),
        bind(\.priority, .option("priority", "Servers whose tools come first, in this order")),
        bind(\.isReset, .flag("reset", "Forget what was chosen for this scope first")),
    ]

    init() {}

    var changes: Bool { isReset || !on.isEmpty || !off.isEmpty || !priority.isEmpty }
}

/// What is used of a server.
struct UseRow: Record {
    let name: String
    let isOn: Bool
    let place: Int
    let tools: Int
    let off: [String]

    static let fields: [Field<UseRow>] = [
        Field("name", "Name of the server", .name) { $0.name },
        Field("on", "Whether it is used") { $0.isOn },
        Field("place", "Its place in the order of priority") { $0.place },
        Field("tools", "Number of tools that are offered") { $0.tools },
        Field("off", "Tools that are not offered") { $0.off.map { PlainText.escape($0) } },
    ]
}
