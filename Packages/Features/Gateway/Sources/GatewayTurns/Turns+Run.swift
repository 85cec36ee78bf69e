import Capabilities
import GatewayStore
import JSON
import ModelKit

extension Turns {
    /// Answers a request.
    ///
    /// `emit` is called in the caller's task, one batch after the other; while it is busy, the turn gets only a little ahead.
    /// When it throws, or the caller's task is cancelled, the client has vanished: the turn is ended and stored before
    /// this throws, or goes on without it where the input or the settings say so.
    ///
    /// - Throws: what `open` throws, what `emit` throws, and what the store refuses. Whatever else ends a turn is in the
    ///   report, with what was said until then.
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
    /// - Throws: `GatewayError` for what is refused: unknown ids, a session that is busy, a budget that is used up, nothing
    ///   new to answer. Nothing is started then.
    public func open(_ input: TurnInput) async throws -> OpenTurn {
        guard !input.chat.messages.isEmpty else {
            throw GatewayError(.missingMessages, "the request has no messages; send at least one", param: "messages")
        }
        return try await input.isAgent ? open(agent: input) : open(completion: input)
    }

    /// Refuses, and writes down, what would go over a budget.
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

    // A function of its own, since what lives in an async one is memory of every task that waits in it.
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
        // The client decides what is sent, and whether it is sent again.
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
    /// Puts instructions before those of a request in Anthropic's dialect.
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

extension GatewayError {
    static func needsProject(_ model: String) -> GatewayError {
        GatewayError(
            .invalid, "\(model) works with tools of its own in a project's folder; name a project in the request",
            param: "project_id")
    }
}
