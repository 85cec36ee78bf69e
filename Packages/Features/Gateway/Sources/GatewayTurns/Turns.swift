public import Capabilities
public import GatewayModels
public import GatewayStore
public import JSON
import ModelKit
public import ToolKit
public import TurnLoop

/// Answers requests: asks models, runs tools, asks clients for approval, and stores what happens.
///
/// ```swift
/// let turns = Turns(store: store, providers: { [openAI] }, now: host.now)
/// var input = TurnInput(ChatRequest(model: "", messages: [Message(.user, "Where are the TODOs?")]), isAgent: true)
/// input.project = project.id
/// let report = try await turns.run(input) { events in try await show(events) }
/// await turns.close()
/// ```
///
/// It owns everything that runs: a turn whose client disconnected is either ended or continues under its limits, and
/// `close` ends and awaits everything.
public final class Turns: Sendable {
    let parts: TurnParts
    private let catalogue: Catalogue
    var table: TurnTable { parts.running.table }
    /// Tools besides those of a project's folder, at a place.
    public typealias Sources =
        @Sendable (_ place: ToolPlace, _ tell: @escaping @Sendable (String) -> Void) async throws -> [any ToolSource]
    private let others: Sources

    /// - Parameters:
    ///   - providers: The model providers, preferred ones first.
    ///   - builtIn: The model of the program itself, which is listed after all others.
    ///   - sources: Tools besides those of a project's folder.
    ///   - claude: The `claude` command, offered as `claude/…`.
    ///   - running: Turns that already run with earlier settings, so that they are visible and ended here too.
    ///   - keeping: An object to keep alive while a turn runs, such as the owner of the providers.
    ///   - folders: Where answers for a project are kept; without it they apply to the session.
    public init(
        store: GatewayStore, providers: @escaping @Sendable () async -> [any ModelProvider],
        builtIn: (any BuiltInModel)? = nil, settings: TurnSettings = TurnSettings(),
        sources: @escaping Sources = { _, _ in [] },
        claude: ClaudeCommand? = nil, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp, tracer: Tracer? = nil, running: RunningTurns? = nil,
        keeping: (any Sendable)? = nil, folders: (any FolderRules)? = nil
    ) {
        parts = TurnParts(
            store: store, settings: settings, clock: clock, now: now, tracer: tracer ?? Tracer(sinks: [], now: now),
            running: running ?? RunningTurns(clock: clock, now: now), keeping: keeping, folders: folders)
        catalogue = Catalogue(providers: providers, builtIn: builtIn, claude: claude, clock: clock, now: now) {
            listing in
            // A log that cannot be written is no reason to withhold the other models.
            do {
                try await store.audit(
                    AuditEntry(
                        actor: "gateway", action: "models.left-out", subject: listing.id,
                        detail: listing.problem.map { .string($0.message) } ?? .null))
            } catch {}
        }
        others = sources
    }

    /// All sources of tools: that of the project's folder first. Those of servers follow where there is a project, since they
    /// belong to a folder.
    ///
    /// - Parameter tell: receives what the client should know, such as that a source was left out.
    func sources(
        in project: Project?, _ policy: ApprovalPolicy = ApprovalPolicy(), session: String? = nil,
        telling tell: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> [any ToolSource] {
        var sources: [any ToolSource] = []
        if let project { sources.append(try project.files(parts.settings, policy)) }
        return sources + (try await others(ToolPlace(folder: project?.path, conversation: session), tell))
    }

    /// Whether models are being listed.
    public var isListing: Bool { catalogue.isLoading }

    /// The number of running turns and completions.
    public var running: Int { table.count }

    /// The number of sessions with a running turn in this process.
    public var runningSessionCount: Int { table.sessionCount }

    /// The sessions with a running turn in this process.
    public var runningSessions: [String] { table.sessions }

    /// Ends all turns, keeps what was said, and waits for them and their tools, including turns that started with other
    /// settings. Later requests are refused.
    public func close() async {
        await table.close()
        await catalogue.close()
        // A tool that ignores cancellation must not keep the gateway from stopping.
        let (runs, clock) = (parts.toolRuns, parts.clock)
        await withTaskGroup { group in
            group.addTask { do { try await runs.allEnded() } catch {} }
            group.addTask { do { try await clock.sleep(for: .seconds(5)) } catch {} }
            await group.next()
            group.cancelAll()
        }
    }
}

extension Turns {
    /// Prepares and starts an agent turn. If that fails, at most an empty session is left behind.
    func open(agent input: TurnInput) async throws -> OpenTurn {
        // Whoever sits where the gateway runs is not its client, and is not asked on its behalf.
        guard let caller = Caller.current else { return try await opened(agent: input) }
        let client = caller.narrowed(by: nil, asking: caller.interaction.unattended)
        return try await Caller.$current.withValue(client) { try await opened(agent: input) }
    }

    private func opened(agent input: TurnInput) async throws -> OpenTurn {
        var input = input
        // Drop what the session could not store before it is sent to a model.
        _ = try TranslationTable.translate(&input.chat, to: nil)
        input.chat.native = nil
        var session: Session?
        if let id = input.session { session = try await self.session(id) }
        let messages = Self.news(in: input.chat.messages, isFirst: (session?.messages ?? 0) == 0)
        guard messages.last?.role == .user else {
            throw GatewayError(
                .missingUserMessage, "the request has no new message; its last message must be the user's",
                param: "messages")
        }
        let project = try await project(input.project, of: session)
        let wanted = input.chat.model.isEmpty ? session?.model ?? "" : input.chat.model
        let choice = try await catalogue.choice(named: wanted, default: parts.settings.defaultModel)
        if case .claude = choice.backend, project == nil { throw GatewayError.needsProject(choice.name) }
        try await admit(session: session?.id, project: project?.id, client: input.client)
        let (decided, told) = await parts.decided(in: project)
        let policy = parts.settings.policy(in: project, decided, session, input.mode)
        let said = Notices()
        let all = try await sources(in: project, policy, session: session?.id, telling: said.add)
        if let selection = input.selection { try await check(selection, among: all) }
        let prompt = Self.prompt(of: input)
        let open = try await session.orCreate {
            try await parts.store.createSession(
                NewSession(
                    project: project?.id, model: choice.name, systemPrompt: prompt,
                    selection: input.selection ?? ToolSelection()))
        }
        let selection = input.selection ?? open.selection
        var chat = input.chat
        chat.messages = (prompt ?? open.systemPrompt).map { [Message(.system, $0)] } ?? []
        chat.tools = []
        chat.extras = [:]
        chat.streams = true
        let lease = try await lease(of: open.id)
        let plan = AgentPlan(
            session: open, project: project, lease: lease, choice: choice, chat: chat, messages: messages,
            selection: selection,
            sources: selection.sources(among: all).map {
                OfferedTools($0, selected: selection.tools, runs: parts.toolRuns)
            },
            policy: policy, notices: told + said.all + selection.problems(among: all), canAsk: input.canAsk,
            client: input.client)
        do {
            let control = TurnControl()
            let agent = AgentTurn(parts: parts, plan: plan, control: control)
            let turn = try table.start(session: open.id, client: input.client, control) { await agent.run() }
            return OpenTurn(
                turn, place: plan.place, keepsRunning: input.keepsRunning ?? parts.settings.keepsRunning)
        } catch {
            try await parts.store.endTurn(lease)
            throw error
        }
    }

    /// The messages that are new to a session: all of them if the session is empty, or else those after the model's
    /// last answer.
    private static func news(in messages: [Message], isFirst: Bool) -> [Message] {
        if isFirst { return HistoryRepair.repaired(messages.filter { $0.role != .system }) }
        let last = messages.lastIndex { $0.role == .assistant }
        return messages[(last.map { $0 + 1 } ?? 0)...].filter { $0.role == .user && !$0.parts.isEmpty }
    }

    private static func prompt(of input: TurnInput) -> String? {
        if let prompt = input.systemPrompt, !prompt.isEmpty { return prompt }
        let said = input.chat.messages.filter { $0.role == .system }.map(\.text).joined(separator: "\n\n")
        return said.isEmpty ? nil : said
    }

    private func project(_ named: String?, of session: Session?) async throws -> Project? {
        if let named, let session, session.project != named {
            throw GatewayError(
                .invalid, "the session belongs to another project; omit the project, or start a new session",
                param: "project_id")
        }
        guard let id = named ?? session?.project else { return nil }
        return try await project(id)
    }

    private func lease(of session: String) async throws -> TurnLease {
        do {
            // Shielded, because a lease taken for a request that was cancelled meanwhile would never be returned.
            return try await shielded { [parts] in try await parts.store.beginTurn(session: session) }
        } catch let error as GatewayStoreError where error.kind == .busy {
            throw GatewayError(
                .sessionBusy, "a turn of this session is running; wait for it or stop it", param: "session_id",
                cause: error)
        } catch let error as GatewayStoreError where error.kind == .notFound {
            throw GatewayError.noSession(session)
        }
    }
}

extension Optional {
    fileprivate func orCreate(_ make: () async throws -> Wrapped) async rethrows -> Wrapped {
        if let self { return self }
        return try await make()
    }
}

extension Turns {
    /// All available models, in the order of their providers. Requests name them as `PROVIDER/ID`.
    public func models() async -> [ModelDescription] {
        await catalogue.models()
    }

    /// The model that a request with this name would use; the default for an empty name.
    public func model(named name: String) async throws -> ModelDescription {
        try await catalogue.choice(named: name, default: parts.settings.defaultModel).description
    }

    /// Creates embeddings. Takes and returns the bodies of OpenAI's `POST /v1/embeddings`.
    public func embeddings(_ body: JSONObject, for client: TurnClient? = nil) async throws -> JSONObject {
        let choice = try await catalogue.choice(named: body["model"]?.string ?? "", default: nil)
        let model = choice.description
        if parts.isLimited(client) { try await admit(session: nil, project: nil, client: client) }
        var asked = body
        asked["model"] = .string(model.id)
        guard case .provider(let provider) = choice.backend, var answer = try await provider.embeddings(asked) else {
            throw GatewayError(
                .modelNotFound, "\(choice.name) does not create embeddings; use a model that does", param: "model"
            )
        }
        var usage = Usage(inputTokens: answer["usage"]?["prompt_tokens"]?.int, outputTokens: 0)
        usage.cost = model.price?.cost(of: usage)
        try await parts.store.account(
            UsageEntry(client: client?.name, provider: model.provider, model: model.id, usage: usage))
        answer["model"] = .string(choice.name)
        return answer
    }
}

extension Turns {
    /// Answers a request.
    ///
    /// `emit` is called in the caller's task, one batch after the other. While it is busy, the turn can get only a
    /// little ahead. When it throws, or the caller's task is cancelled, the client has disconnected: the turn is ended
    /// and stored before this throws, or continues without the client, as the input or the settings say.
    ///
    /// - Throws: Errors of `open`, of `emit` and of the store. Any other reason for the end of a turn is in the report,
    ///   with what was said so far.
    public func run(
        _ input: TurnInput, emit: @escaping @Sendable ([GatewayEvent]) async throws -> Void
    ) async throws -> TurnReport {
        let turn = try await open(input)
        do {
            while let events = await turn.next() { try await emit(events) }
            try Task.checkCancellation()
        } catch {
            await turn.leave()
            throw error
        }
        return try await turn.report()
    }

    /// Accepts a request and starts to answer it.
    ///
    /// - Throws: `GatewayError` if the request is refused, such as for an unknown id, a busy session, a used-up budget
    ///   or no new message. Nothing is started then.
    public func open(_ input: TurnInput) async throws -> OpenTurn {
        guard !input.chat.messages.isEmpty else {
            throw GatewayError(.missingMessages, "the request has no messages; send at least one", param: "messages")
        }
        return try await input.isAgent ? open(agent: input) : open(completion: input)
    }

    /// Refuses a request that would exceed a budget, and writes that to the audit log.
    func admit(session: String?, project: String?, client: TurnClient?) async throws {
        do {
            try await parts.checkBudget(session: session, project: project, client: client)
        } catch let error as GatewayError {
            try await parts.store.audit(
                AuditEntry(
                    project: project, session: session, actor: "gateway", action: "turn.refused",
                    subject: client?.name, detail: ["reason": .string(error.code), "message": .string(error.message)]))
            throw error
        }
    }

    private func open(completion input: TurnInput) async throws -> OpenTurn {
        let choice = try await catalogue.choice(named: input.chat.model, default: parts.settings.defaultModel)
        guard case .provider(let provider) = choice.backend else { throw GatewayError.needsProject(choice.name) }
        if parts.isLimited(input.client) { try await admit(session: nil, project: nil, client: input.client) }
        return try start(input, choice, provider, await provider.dialect(of: choice.description.id))
    }

    // A separate function, because the variables of an async function take memory in every task that waits in it.
    @inline(never)
    private func start(
        _ input: TurnInput, _ choice: ModelChoice, _ provider: any ModelProvider, _ dialect: RequestDialect?
    ) throws -> OpenTurn {
        var request = input.chat
        request.model = choice.description.id
        for own in ["project_id", "session_id", "mcp", "system_prompt"] { request.extras[own] = nil }
        if let prompt = input.systemPrompt, !prompt.isEmpty {
            request.messages.insert(Message(.system, prompt), at: 0)
            request.native?.body.addSystem(prompt)
        }
        // The client decides what is sent, and whether to retry.
        request.repeats = false
        let dropped = try TranslationTable.translate(&request, to: dialect)
        let control = TurnControl()
        let completion = try Completion(
            parts: parts, provider: provider, model: choice.description, request: request, client: input.client,
            control: control)
        let turn = try table.start(session: nil, client: input.client, control) { await completion.run() }
        return OpenTurn(turn, place: completion.place, dropped: dropped, keepsRunning: false)
    }
}

extension JSONObject {
    /// Adds instructions before those of a request in Anthropic's dialect.
    fileprivate mutating func addSystem(_ text: String) {
        guard !isEmpty else { return }
        func block(_ text: String) -> JSON { ["type": "text", "text": .string(text)] }
        switch self["system"] {
        case .array(let blocks): self["system"] = .array([block(text)] + blocks)
        case .string(let own): self["system"] = [block(text), block(own)]
        default: self["system"] = [block(text)]
        }
    }
}

extension Turns {
    /// Ends the turn of a session at once and returns when it has ended. What was said is kept, and the session can be
    /// continued. Returns false if no turn was running here.
    public func stop(session id: String) async throws -> Bool {
        guard let turn = table.turn(of: id) else {
            _ = try await session(id)
            return false
        }
        turn.control.stop(.asked)
        _ = await turn.task.value
        return true
    }

    /// The status of a session now. Throws `GatewayError` `.sessionNotFound`.
    public func status(session id: String) async throws -> SessionStatus {
        let session = try await session(id)
        return SessionStatus(
            session: session, isRunning: session.isRunning || table.turn(of: id) != nil,
            openApprovals: openApprovals(of: id).count)
    }

    /// Answers an approval request. A lasting answer is stored with the session or the project.
    ///
    /// - Throws: `GatewayError` `.approvalNotFound` if it was already answered or has expired.
    public func answer(_ approval: String, of session: String, _ answer: ApprovalAnswer) throws {
        var answer = answer
        // Only the settings can decide for all projects, not a client.
        if answer.scope == .always { answer.scope = .project }
        try parts.approvals.answer(approval, of: session, .success(answer))
    }

    /// Fails an approval request, for example because an answer given in advance does not fit.
    public func answer(_ approval: String, of session: String, failing error: InteractionError) throws {
        try parts.approvals.answer(approval, of: session, .failure(error))
    }

    /// The open approval requests of a session, oldest first.
    public func openApprovals(of session: String) -> [ApprovalTicket] { parts.approvals.tickets(of: session) }

    /// The folder of a project for a client that reads or writes files itself. Paths that the rules of the settings or
    /// the project deny to tools are denied to it too.
    public func workspace(of project: Project) async throws(GatewayError) -> Workspace {
        let decided = await parts.decided(in: project).rules
        return try project.workspace(parts.settings, parts.settings.policy(in: project, decided, nil, .readOnly))
    }

    func session(_ id: String) async throws -> Session {
        guard let session = try await parts.store.session(id) else { throw GatewayError.noSession(id) }
        return session
    }

    func project(_ id: String) async throws -> Project {
        guard let project = try await parts.store.project(id) else {
            throw GatewayError(
                .projectNotFound,
                "there is no project \(PlainText.escape(id).quoted); 'martlet gateway project list' lists them",
                param: "project_id")
        }
        return project
    }
}

/// The status of a session.
public struct SessionStatus: Sendable, Hashable {
    /// The stored session.
    public let session: Session
    /// Whether a turn is running, here or in another process.
    public let isRunning: Bool
    /// The number of open approval requests.
    public let openApprovals: Int
}
