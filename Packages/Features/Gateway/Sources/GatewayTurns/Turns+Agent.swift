import Capabilities
import GatewayStore
import JSON
import ModelKit
import TurnLoop

extension Turns {
    /// Finds all that an agent turn needs, and starts it. Nothing is left behind when that fails, but perhaps an empty
    /// session.
    func open(agent input: TurnInput) async throws -> OpenTurn {
        var input = input
        // Nobody is given what the session could not keep.
        _ = try TranslationTable.translate(&input.chat, to: nil)
        input.chat.native = nil
        var session: Session?
        if let id = input.session { session = try await self.session(id) }
        let messages = Self.news(in: input.chat.messages, isFirst: (session?.messages ?? 0) == 0)
        guard messages.last?.role == .user else {
            throw GatewayError(
                .missingUserMessage, "the request says nothing new: its last message has to be the user's",
                param: "messages")
        }
        let project = try await project(input.project, of: session)
        let wanted = input.chat.model.isEmpty ? session?.model ?? "" : input.chat.model
        let choice = try await catalogue.choice(named: wanted, default: parts.settings.defaultModel)
        if case .claude = choice.backend, project == nil { throw GatewayError.needsProject(choice.name) }
        try await admit(session: session?.id, project: project?.id, client: input.client)
        let (decided, told) = await parts.decided(in: project)
        let policy = parts.settings.policy(in: project, decided, session, input.mode)
        let all = try await sources(in: project, policy)
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
                OfferedTools($0, selected: selection.tools, runs: parts.toolRuns, tracer: parts.tracer)
            },
            policy: policy, notices: told + selection.problems(among: all), canAsk: input.canAsk, client: input.client)
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

    /// What a session does not know yet: all of the request when it is empty, else what stands behind the model's last
    /// answer.
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
                .invalid, "the session belongs to another project; leave the project out, or begin a new session",
                param: "project_id")
        }
        guard let id = named ?? session?.project else { return nil }
        return try await project(id)
    }

    private func lease(of session: String) async throws -> TurnLease {
        do {
            // A lease that was given to a request which was cancelled meanwhile would never be given back.
            return try await shielded { [parts] in try await parts.store.beginTurn(session: session) }
        } catch let error as GatewayStoreError where error.kind == .busy {
            throw GatewayError(
                .sessionBusy, "a turn of this session is running; wait for its end or stop it", param: "session_id",
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
