import Capabilities
import HTTPServer
import JSON
import MCPKit
import Registry
import Synchronization

/// What an MCP host gets: actions as tools, conversations and screens as resources, each as far as the grant of its
/// credential allows.
///
/// Nothing here decides about rights. Everything goes through the session with a caller that has the host's grant.
final class ServeService: MCPService {
    let identity: MCPIdentity
    let changes = MCPChanges()
    /// What hosts are told about.
    let watches: ResourceWatches

    private struct State {
        /// The tools by the credentials with which they are called, for the newest settings.
        var tables: [String: ToolTable] = [:]
        var generation: Int?
    }

    private let context: ActionContext
    private let rights: ServeRights
    private let settings: ServeSettings
    /// Waits until the credential of a client is no longer valid; nil for clients whose credential is valid to the end.
    private let revoked: (@Sendable (Principal) async throws -> Void)?
    private let state = Mutex(State())

    /// - Parameter revoked: waits until the credential of a client is no longer valid.
    init(
        _ context: ActionContext, _ rights: ServeRights, _ settings: ServeSettings,
        revoked: (@Sendable (Principal) async throws -> Void)? = nil
    ) {
        self.context = context
        self.rights = rights
        self.settings = settings
        self.revoked = revoked
        watches = ResourceWatches(limit: settings.screens)
        identity = MCPIdentity(name: context.host.name, title: "Martlet", version: context.host.version)
    }

    /// Watches what hosts want to be told about until the task is cancelled.
    func run() async {
        await watches.run { [self] key in
            guard let address = ResourceAddress(key.address) else { return }
            let watch = ResourceWatch(
                session: context.session, caller: caller(key.principal), clock: context.host.clock)
            do {
                try await watch.run(address) { [changes] in changes.announce(.resource(key.address)) }
            } catch {
                // Whoever reads it again is told why.
                if !Task.isCancelled { changes.announce(.resource(key.address)) }
            }
        }
    }

    // MARK: Rights

    /// The rights of a client; none without a credential.
    private func grant(_ principal: Principal?) -> Grant { principal?.grant ?? .nobody }

    private func caller(_ principal: Principal?, asking interaction: any Interaction = HeadlessInteraction()) -> Caller
    {
        context.caller.narrowed(by: grant(principal), asking: interaction)
    }

    private var redactor: Redactor { context.host.redactor }

    private func reader(_ principal: Principal?) -> ResourceReader {
        ResourceReader(
            session: context.session, caller: caller(principal), redactor: redactor, limit: settings.callLimit,
            most: settings.resultLimit)
    }

    // MARK: What is offered

    func capabilities(for peer: MCPPeer) -> MCPServerCapabilities {
        var offered = MCPServerCapabilities()
        if rights.exposes.contains(.actions) { offered.tools = .init(tellsChanges: true) }
        if rights.exposes.contains(.conversations) || rights.exposes.contains(.screens) {
            offered.resources = .init()
            offered.subscribesResources = true
            offered.completions = true
        }
        offered.logging = true
        offered.tasks = true
        return offered
    }

    func instructions(for peer: MCPPeer) -> String? {
        "The tools are actions of Martlet, a workbench for AI servers. A failed call says what to do about it."
    }

    // MARK: Tools

    func tools(for peer: MCPPeer) async throws -> [MCPTool] { table(for: peer).tools }

    func tool(_ name: String, for peer: MCPPeer) async throws -> MCPTool? { table(for: peer).tool(name) }

    /// The tools with the newest settings.
    private func table(for peer: MCPPeer) -> ToolTable {
        guard rights.exposes.contains(.actions) else { return ToolTable([], rights, .nobody) }
        let newest = context.session.keepNewest(telling: context.notice)
        let number = newest.generation.number
        let credential = peer.principal?.credential ?? ""
        let (known, isChanged) = state.withLock { state -> (ToolTable?, Bool) in
            if state.generation == number { return (state.tables[credential], false) }
            defer { (state.generation, state.tables) = (number, [:]) }
            return (nil, state.generation != nil)
        }
        if isChanged { changes.announce(.tools) }
        if let known { return known }
        let table = ToolTable(
            newest.generation.registry.actions.all, rights, rights.tools(grant(peer.principal)))
        state.withLock { state in
            // A token that was replaced leaves a table behind.
            if state.tables.count >= Self.mostTables { state.tables = [:] }
            if state.generation == number { state.tables[credential] = table }
        }
        return table
    }

    private static let mostTables = 16

    func call(_ tool: String, _ arguments: JSONObject, in context: MCPCallContext) async throws -> MCPResult {
        guard let action = table(for: context.peer).action(tool) else { throw MCPUnknown.tool(tool) }
        let answer = ToolAnswer(redactor: redactor, limit: settings.resultLimit)
        let output = ToolOutput(context, redactor, limit: settings.resultLimit)
        do {
            let problems = action.problemsForHosts(in: arguments)
            guard problems.isEmpty else { throw ArgumentsFailure(action: action.id, problems: problems) }
            return try answer.result(
                try await TraceContext.$current.withValue(context.trace) {
                    try await perform(action.id, arguments, output, in: context)
                }, output)
        } catch {
            if Task.isCancelled { throw CancellationError() }
            return answer.failure(error)
        }
    }

    private func perform(
        _ id: String, _ arguments: JSONObject, _ output: ToolOutput, in call: MCPCallContext
    ) async throws -> any OutputValue {
        let grant = rights.tools(grant(call.peer.principal))
        let questions = HostQuestions(context: call, redactor: redactor, approves: ServeRights.approves(grant))
        let caller = context.caller.narrowed(by: grant, asking: questions)
        let (session, limit) = (context.session, settings.callLimit)
        guard let revoked, let principal = call.peer.principal else {
            return try await session.perform(id, arguments, as: caller, output: output, limit: limit)
        }
        // A call ends with the credential that it was made with.
        return try await withThrowingTaskGroup(of: (any OutputValue)?.self) { group in
            group.addTask { try await session.perform(id, arguments, as: caller, output: output, limit: limit) }
            group.addTask {
                try await revoked(principal)
                return nil
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() ?? nil else {
                throw ServeFailure(.token, "the token was revoked while this ran; use the new one", exit: .denied)
            }
            return value
        }
    }

    // MARK: Resources

    func resources(for peer: MCPPeer) async throws -> [ToolLink] {
        var links = screens(for: peer).filter { !$0.parameters.contains(where: \.isRequired) }.map { screen in
            ToolLink(
                address: ResourceAddress.text(ofScreen: screen.id), name: screen.id, title: screen.title,
                summary: "A screen", mediaType: "application/json")
        }
        if rights.exposes.contains(.conversations) { links += try await reader(peer.principal).conversations() }
        return links
    }

    func resourceTemplates(for peer: MCPPeer) async throws -> [MCPResourceTemplate] {
        var templates = screens(for: peer).filter { !$0.parameters.isEmpty }.map { screen in
            MCPResourceTemplate(
                address: ResourceAddress.template(ofScreen: screen.id, screen.parameters.map(\.name)), name: screen.id,
                title: screen.title, summary: "A screen", mediaType: "application/json")
        }
        if rights.exposes.contains(.conversations) {
            templates.append(
                MCPResourceTemplate(
                    address: ResourceAddress.conversationTemplate, name: "conversation", title: "A conversation",
                    mediaType: "text/markdown"))
        }
        return templates
    }

    /// The screens that a client may open.
    private func screens(for peer: MCPPeer) -> [Screen] {
        guard rights.exposes.contains(.screens) else { return [] }
        let newest = context.session.keepNewest(telling: context.notice)
        let grant = grant(peer.principal)
        return newest.generation.registry.screens.all.filter { rights.offers($0.declaration, to: grant) }
    }

    func complete(
        _ reference: MCPReference, _ argument: String, _ value: String, given: [String: String], for peer: MCPPeer
    ) async throws -> MCPCompletions {
        guard case .resource(let template) = reference else { return MCPCompletions([]) }
        let completer = ResourceCompleter(value: value, given: given, redactor: redactor)
        if template == ResourceAddress.conversationTemplate {
            guard rights.exposes.contains(.conversations), argument == ResourceAddress.conversationVariable else {
                return MCPCompletions([])
            }
            return completer.complete(try await reader(peer.principal).conversations())
        }
        let screen = screens(for: peer).first { screen in
            ResourceAddress.template(ofScreen: screen.id, screen.parameters.map(\.name)) == template
        }
        guard let parameter = screen?.parameters.first(where: { $0.name == argument }) else {
            return MCPCompletions([])
        }
        let newest = context.session.keepNewest(telling: context.notice)
        return completer.complete(
            parameter, of: newest.generation.registry, newest.generation.host,
            knowsHistory: rights.exposes.contains(.conversations))
    }

    func read(_ address: String, in context: MCPCallContext) async throws -> [ToolResource] {
        let resource = try resource(address, for: context.peer)
        return [try await reader(context.peer.principal).content(resource, named: address)]
    }

    func watch(_ address: String, for peer: MCPPeer) async throws {
        _ = try resource(address, for: peer)
        try watches.begin(ResourceWatches.Key(address: address, principal: peer.principal))
    }

    func unwatch(_ address: String, for peer: MCPPeer) {
        watches.end(ResourceWatches.Key(address: address, principal: peer.principal))
    }

    /// What an address names, if it is exposed.
    private func resource(_ address: String, for peer: MCPPeer) throws(MCPUnknown) -> ResourceAddress {
        let resource = ResourceAddress(address)
        switch resource {
        case .conversation? where rights.exposes.contains(.conversations): break
        case .screen(let id, _)? where screens(for: peer).contains(where: { $0.id == id }): break
        default: throw .resource(address)
        }
        guard let resource else { throw .resource(address) }
        return resource
    }
}
