import Capabilities
import FileKit
import HTTPClient
import JSON
import MCPKit
import MCPServers
import ProcessKit
import Registry
import Settings
import StorageKit
import Synchronization

/// What the parts of the feature share. Creating it opens nothing.
final class MCPServices: Sendable {
    let settings: MCPSettings
    /// The profile in use.
    let profile: String?
    let surroundings: Surroundings
    let records: ToolRecords
    /// The servers that run, also across changed settings.
    let pool: ServerPool
    /// What the person's platforms tell of their tools.
    let platforms: Platforms
    /// What the settings files, variables and options say of servers, the weakest first. Most commands never read it.
    private let layers: [Settings.Entry]
    private let whole: WholeRegistry
    /// The listings that are in the records.
    private let learnt = Mutex(Set<Learnt>())
    /// Texts of tools that were approved, by the keys of their servers.
    private let approvals = Mutex([String: [String: JSON]]())
    private let clients: Clients
    /// What the person was told already.
    private let told = Mutex(Set<String>())
    /// The servers that the person did not let be installed.
    private let declined = Mutex(Set<ConfiguredServer>())

    /// A listing of a server.
    private struct Learnt: Hashable {
        let server: ConfiguredServer
        let number: Int
    }

    init(_ settings: FeatureSettings, _ surroundings: Surroundings, whole: WholeRegistry, pool: ServerPool) {
        self.settings = MCPSettings(reading: settings)
        profile = settings.profile
        self.surroundings = surroundings
        self.whole = whole
        self.pool = pool
        layers = settings.layers(of: MCPSettings.servers)
        records = ToolRecords("\(surroundings.locations.data)/mcp.db") { $0.tell(ActionContext.current?.warn) }
        let clients = Clients(surroundings, whole)
        self.clients = clients
        platforms = Platforms(
            settings.servers, records: records, surroundings: surroundings, limit: self.settings.platformLimit,
            changes: pool.changes
        ) {
            clients.client(ofOwnServers: true)
        } authenticator: {
            whole.registry?.optional((any Authenticator).self)
        }
    }

    func close() async {
        await pool.close()
        await clients.close()
        await records.close()
    }

    var registry: Registry? { whole.registry }

    // MARK: Where

    /// The folder of the project: that of its settings, or else the current one.
    var projectFolder: String {
        folder(surroundings.locations.project.map(Self.project) ?? surroundings.locations.current)
    }

    private static func project(_ file: String) -> String {
        AbsolutePath(AbsolutePath(file).folder.text).folder.text
    }

    /// A folder as records know it. One that cannot be read is reported when something in it is opened.
    func folder(_ path: String) -> String {
        do throws(FileError) { return try Files.canonical(path) } catch { return path }
    }

    /// The servers that are set up for a folder.
    ///
    /// - Parameters:
    ///   - isProject: whether those that come with the folder are among them.
    ///   - listings: what platforms have told of theirs.
    func directory(
        _ folder: String, isProject: Bool = true, platforms listings: [PlatformListing] = []
    ) -> ServerDirectory {
        var problems: [String] = []
        let entries = layers.map { layer in
            let origin: ConfiguredServer.Origin =
                if case .project(let file) = layer.origin { .project(file: file) } else { .own(layer.origin.words) }
            // The type of each member was checked when the settings were read; what they say together is checked here. A server
            // that cannot be used must not take the others with it.
            var entries: ServerEntries = [:]
            for (name, json) in layer.value.object ?? [:] {
                do throws(ValueError) { entries[name] = try ServerEntry(json: json) } catch {
                    problems.append(
                        "the server \(PlainText.escape(name)) of \(PlainText.escape(layer.origin.words)) is left out: \(error.ofEntry)"
                    )
                }
            }
            return (origin: origin, entries: entries)
        }
        let own = entries.filter { if case .own = $0.origin { true } else { isProject } }
        return ServerDirectory(
            own, folder: folder, readsProject: isProject && settings.readsProject, platforms: listings,
            problems: problems)
    }

    /// The same with the tools of the person's platforms, which are asked unless that was lately.
    func current(
        _ folder: String, isProject: Bool = true, telling tell: (String) -> Void
    ) async throws -> ServerDirectory {
        directory(folder, isProject: isProject, platforms: try await platforms.current(telling: tell))
    }

    /// The same with the tools of platforms as they were listed last.
    func known(_ folder: String) async throws -> ServerDirectory {
        directory(folder, platforms: try await platforms.known())
    }

    /// The same of the project's folder, for a person who is typing.
    var knownNow: ServerDirectory { directory(projectFolder, platforms: platforms.knownNow()) }

    /// A server of the project's folder. Platforms are asked only for a name that is not known.
    func server(named name: String, telling tell: (String) -> Void) async throws -> ConfiguredServer {
        if let known = try await known(projectFolder).servers.first(where: { $0.name == name }) { return known }
        return try await current(projectFolder, telling: tell).server(named: name)
    }

    // MARK: Servers

    /// What servers get of the program.
    private func serverSurroundings() -> ServerSurroundings {
        ServerSurroundings(
            environment: surroundings.environment, launcher: Launcher(),
            http: { [clients] in clients.client(ofOwnServers: false) },
            secrets: registry?.optional((any SecretStore).self), redactor: surroundings.redactor,
            signIn: registry?.optional((any ResourceSignIn).self), identity: Self.identity, limits: settings.limits,
            places: pool.places, inputs: pool.inputs)
    }

    /// The same for one server: a tool at a platform gets the person's session there, and one elsewhere nothing.
    func serverSurroundings(for server: ConfiguredServer) -> ServerSurroundings {
        var surroundings = serverSurroundings()
        guard server.platform != nil else { return surroundings }
        surroundings.signIn = platforms.signIn(for: server)
        if surroundings.signIn != nil { surroundings.http = { [clients] in clients.client(ofOwnServers: true) } }
        return surroundings
    }

    static let identity = MCPIdentity(name: "martlet", title: "Martlet", version: MCPFeature.manifest.version)

    func log(of server: ConfiguredServer) -> ServerLog {
        ServerLog(
            "\(surroundings.locations.state)/mcp/\(server.name).log", redactor: surroundings.redactor,
            now: surroundings.now)
    }

    /// The server as it runs in this process, or will when it is needed.
    func live(_ server: ConfiguredServer) -> LiveServer {
        let sampler = settings.samplingModel.map { model in
            ModelSampler(model: model, whole: whole).sample
        }
        // Not this object, since servers outlive changed settings.
        let (rules, home) = (folderRules, Files.home(in: surroundings.environment))
        return pool.server(server, in: serverSurroundings(for: server), log: log(of: server), sampler: sampler) {
            try Self.agreement(to: server, home: home)?.require(in: rules)
        }
    }

    private var folderRules: (any FolderRules)? { registry?.optional((any FolderRules).self) }

    /// What must be agreed to before the server is used; nil if nothing must be.
    func agreement(to server: ConfiguredServer) throws -> ServerAgreement? {
        try Self.agreement(to: server, home: Files.home(in: surroundings.environment))
    }

    private static func agreement(to server: ConfiguredServer, home: String?) throws -> ServerAgreement? {
        // Nobody but the person changes what lies in a home folder: models do not write there.
        if server.isOwn {
            guard server.entry.isProgram, let home,
                !AbsolutePath(home).lies(beneath: AbsolutePath(server.folder))
            else { return nil }
        }
        let agreement = try ServerAgreement(server)
        return agreement.isNeeded ? agreement : nil
    }

    /// Checks that the person has agreed to the server, or asks now.
    func agree(
        to server: ConfiguredServer, asking interaction: any Interaction, telling tell: (String) -> Void
    ) async throws {
        guard let agreement = try agreement(to: server) else { return }
        guard let rules = folderRules else {
            throw ServerError(.notAgreed, "there is no record of what you agreed to, so no server of a project is used")
        }
        if try agreement.isGiven(in: rules) { return }
        try await agreement.ask(interaction, keeping: rules, telling: tell)
        // One that runs may have been started from other files.
        await pool.end(server)
    }

    /// Throws unless the server is set up, on and agreed to.
    func usable(
        _ name: String, asking interaction: any Interaction, telling tell: (String) -> Void
    ) async throws -> LiveServer {
        let server = try await server(named: name, telling: tell)
        guard server.entry.isEnabled else {
            throw ServerError(
                .off, "the MCP server \(name) is switched off; 'martlet mcp enable \(name)' switches it on")
        }
        try await prepare(server, asking: interaction, telling: tell)
        return live(server)
    }

    // MARK: Tools

    /// The key of a server in the records: its name for the person's own, and for others where it comes from too.
    func key(_ server: ConfiguredServer) -> String {
        if let platform = server.platform { return "\(server.name)@platform:\(platform)" }
        return server.isOwn ? server.name : "\(server.name)@\(server.folder)"
    }

    /// The tools of a server that runs, which are remembered for when it does not.
    func tools(of live: LiveServer, as caller: Caller?) async throws -> ToolListing {
        let listing = try await live.tools(as: caller)
        let mark = Learnt(server: live.server, number: listing.number)
        guard learnt.withLock({ $0.insert(mark).inserted }) else { return listing }
        let key = key(live.server)
        if try await records.tools(of: key) != listing.tools.map(\.text) {
            try await records.learn(
                listing.tools.map { (name: $0.tool.name, listed: $0.text) }, of: key, at: surroundings.now())
        }
        return listing
    }

    /// The text of a tool that the person approved; nil if that never was. What another process approves meanwhile is not
    /// seen, so that at worst it is asked about again.
    func approved(_ tool: String, of server: ConfiguredServer) async throws -> JSON? {
        let key = key(server)
        if let known = approvals.withLock({ $0[key]?[tool] }) { return known }
        guard let found = try await records.approved(tool, of: key) else { return nil }
        approvals.withLock { $0[key, default: [:]][tool] = found }
        return found
    }

    /// Remembers that the person has approved a tool as it is now.
    func approve(_ known: KnownTool, of server: ConfiguredServer) async throws {
        let (key, name) = (key(server), known.tool.name)
        if try await approved(name, of: server) == known.text { return }
        try await records.approve(name, known.text, of: key, at: surroundings.now())
        approvals.withLock { $0[key, default: [:]][name] = known.text }
    }

    /// The tools as they were listed last; nil if they never were.
    func knownTools(of server: ConfiguredServer) async throws -> [MCPTool]? {
        try await records.tools(of: key(server))?.compactMap(MCPTool.init(listed:))
    }

    /// The same for a person who is typing.
    func knownToolsNow(of server: ConfiguredServer) -> [MCPTool] {
        records.toolsNow(of: key(server)).compactMap(MCPTool.init(listed:))
    }

    // MARK: Choices

    /// What is chosen for a folder and a conversation, the narrowest scope first.
    func choice(folder: String, conversation: String?) async throws -> ServerChoice {
        var choice = ServerChoice()
        if settings.remembersSelection, let own = try await records.choice(.user, "") { choice = own }
        if let own = try await records.choice(.project, folder) { choice = own.over(choice) }
        if let conversation, let own = try await records.choice(.session, conversation) { choice = own.over(choice) }
        return choice
    }

    /// Throws if what is chosen for all conversations is kept as it is.
    ///
    /// - Parameter others: how to choose for some of them.
    func requireRemembering(or others: String = "with --scope project or --scope session") throws(ServerError) {
        guard !settings.remembersSelection else { return }
        throw ServerError(
            .choiceKept,
            "what you chose for all conversations is kept and not applied (mcp.remember-selection is off); choose \(others), or switch that setting on"
        )
    }

    /// Whether the person did not let the program of a server be installed.
    func isDeclined(_ server: ConfiguredServer) -> Bool { declined.withLock { $0.contains(server) } }

    func remember(isDeclined: Bool, _ server: ConfiguredServer) {
        declined.withLock { declined in
            if isDeclined { declined.insert(server) } else { declined.remove(server) }
        }
    }

    /// Tells something the first time.
    func tellOnce(_ text: String, _ tell: (String) -> Void) {
        if told.withLock({ $0.insert(text).inserted }) { tell(text) }
    }
}
