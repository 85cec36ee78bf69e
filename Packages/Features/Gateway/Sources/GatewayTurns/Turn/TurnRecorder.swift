import Capabilities
import GatewayStore
import JSON
import TurnLoop

/// Stores a turn while it runs, and sends its events to the client.
///
/// A turn that cannot be stored is ended, because an answer missing from its session would be worse than none.
actor TurnRecorder {
    private let parts: TurnParts
    private let plan: AgentPlan
    private let feed: Channel<GatewayEvent>
    /// The sum of all finished answers.
    private var usage = Usage()
    private(set) var spent = TurnUsage()
    /// Whether the client got text of an earlier answer, so that the next one needs a paragraph break.
    private var hasToldText = false
    private var needsBreak = false
    private var hasToldOfSecrets = false
    /// The entries in the audit log of calls that have not ended, by their ids.
    private var records: [String: Int] = [:]

    init(parts: TurnParts, plan: AgentPlan, feed: Channel<GatewayEvent>) {
        self.parts = parts
        self.plan = plan
        self.feed = feed
    }

    /// Stores the user's messages.
    func begin() async throws {
        // Includes the system messages, which the session stores as well.
        for message in plan.chat.messages + plan.messages { tellOfSecrets(message) }
        for message in plan.messages { try await parts.store.append(TurnMessage(message), lease: plan.lease) }
        if plan.session.model != plan.place.name {
            try await parts.store.setModel(plan.place.name, of: plan.session.id)
        }
    }

    /// Returns when the client has room for more. Throws in a cancelled task, such as that of a stopped turn, so that
    /// even a provider ends that does not check for cancellation.
    func receive(_ events: [TurnEvent]) async throws {
        var told: [GatewayEvent] = []
        do {
            for event in events { try await receive(event, telling: &told) }
        } catch {
            feed.post(told)
            throw error
        }
        await feed.send(told)
        try Task.checkCancellation()
    }

    private func receive(_ event: TurnEvent, telling told: inout [GatewayEvent]) async throws {
        switch event {
        case .round: needsBreak = hasToldText
        case .chat(let event):
            if case .began(let start) = event, case .claude = plan.choice.backend, let model = start.model {
                var place = plan.place
                place.model = model
                told.append(.answers(place))
            }
            if let event = heard(event) { told.append(.chat(event)) }
        case .call(let update):
            told += tell(update)
            try await audit(update)
        case .output(let call, let text): told.append(.output(call: call, text: text))
        case .message(let message):
            tellOfSecrets(message.message)
            try await parts.store.append(
                message, provider: plan.place.provider, model: plan.place.model, client: plan.client?.name,
                lease: plan.lease)
            guard message.message.role == .assistant else { return }
            count(message)
            told.append(.chat(.usage(usage)))
        case .remember(let rule):
            guard !parts.store.holdsSecret(rule) else {
                told.append(.notice("the approved call contains a secret, so the answer counts only once"))
                return
            }
            try await remember(rule)
        case .context(let notice): told.append(.notice(notice.text))
        case .notice(let text): told.append(.notice(text))
        }
    }

    private func tellOfSecrets(_ message: Message) {
        guard !hasToldOfSecrets, parts.store.kept(message) != message else { return }
        hasToldOfSecrets = true
        feed.post([
            .notice("a secret in this session is not stored; later turns see ‹redacted› in its place")
        ])
    }

    /// The event to send to the client. Calls are sent when they are done, under the tools' own names.
    private func heard(_ event: ChatEvent) -> ChatEvent? {
        switch event {
        case .call(let call): call.isDone ? event : nil
        // Calls run here, so the client never sends the reasoning behind them back.
        case .calling, .malformedCall, .thought: nil
        case .usage(let now): .usage(usage + now)
        case .text(let text): .text(apart(text))
        case .began, .reasoning, .refusal, .result, .notice: event
        }
    }

    /// For a client all answers of a turn are one. Text after a tool call becomes a separate paragraph.
    private func apart(_ text: String) -> String {
        guard !text.isEmpty else { return text }
        defer { (hasToldText, needsBreak) = (true, false) }
        return needsBreak ? "\n\n" + text : text
    }

    private func tell(_ update: CallUpdate) -> [GatewayEvent] {
        // Calls that the server ran itself were sent while it streamed.
        guard !update.call.isDone else { return [] }
        switch update.state {
        case .waiting:
            var call = update.call
            call.name = update.tool ?? call.name
            call.isDone = true
            return [.chat(.call(call))]
        case .approved, .running: return []
        case .done, .failed, .denied: return update.result.map { [.chat(.result($0))] } ?? []
        }
    }

    private func count(_ message: TurnMessage) {
        usage = usage + (message.usage ?? Usage())
        spent.answers += 1
        spent.written += message.usage?.outputTokens ?? TokenEstimate().tokens(of: message.message)
        spent.cost = usage.cost
    }

    private func remember(_ rule: ApprovalRule) async throws {
        if rule.scope != .conversation, let project = plan.project, let folders = parts.folders {
            try await folders.remember(rule, in: project.path)
        } else {
            var rule = rule
            rule.scope = .conversation
            try await parts.store.addRules([rule], toSession: plan.session.id)
        }
    }
}

// MARK: Audit

extension TurnRecorder {
    /// Writes to the audit log how the turn ended, unless the model finished it.
    func end(_ outcome: TurnOutcome, _ reason: TurnControl.Reason?) async throws {
        switch outcome.end {
        case .answered: break
        case .stopped: try await note("turn.stopped", detail: ["reason": .string(reason?.rawValue ?? "cancelled")])
        case .roundLimit: try await note("turn.ended", detail: ["reason": "gateway.round-limit"])
        case .failed(let failure): try await note("turn.ended", detail: ["reason": .string(failure.code)])
        }
    }

    private func note(_ action: String, detail: JSON) async throws {
        try await parts.store.audit(
            AuditEntry(
                project: plan.project?.id, session: plan.session.id, actor: "gateway", action: action,
                subject: plan.place.name, detail: detail))
    }

    /// Records calls that the turn loop does not run. The `claude` command is told that it may run a call only after
    /// this; calls that a provider ran itself are known only when they have ended.
    private func audit(_ update: CallUpdate) async throws {
        if case .provider = plan.choice.backend, !update.call.isDone { return }
        let hasEnded = update.result != nil
        guard hasEnded || update.state == .approved && records[update.call.id] == nil else { return }
        guard plan.selection.auditLog || update.effect != .reads || update.state == .denied else { return }
        guard let audit = await plan.callAudit(parts.store) else { return }
        if hasEnded, let number = records.removeValue(forKey: update.call.id) {
            try await audit.log.complete(number, audit.completion(of: update))
        } else {
            let number = try await audit.log.record(await audit.entry(for: update))
            if !hasEnded { records[update.call.id] = number }
        }
    }
}

extension AgentPlan {
    /// How the calls of this turn are recorded; nil if there is no audit log.
    func callAudit(_ store: GatewayStore) async -> CallAudit? {
        await store.callAudit(
            session: session.id, project: project?.id, client: client?.name, hasReads: selection.auditLog)
    }
}
