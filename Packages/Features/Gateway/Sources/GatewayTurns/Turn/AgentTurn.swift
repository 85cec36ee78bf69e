import Capabilities
import GatewayModels
import GatewayStore
import JSON
import ToolKit
import TurnLoop

/// Runs one agent turn: asks the model, runs the tools it calls, reports and stores what happens.
final class AgentTurn: Sendable {
    let parts: TurnParts
    let plan: AgentPlan
    let control: TurnControl

    init(parts: TurnParts, plan: AgentPlan, control: TurnControl) {
        self.parts = parts
        self.plan = plan
        self.control = control
    }

    /// Runs the turn. When it returns, the session is free for the next one.
    func run() async -> Result<TurnReport, any Error> {
        let result: Result<TurnReport, any Error>
        do { result = .success(try await traced()) } catch { result = .failure(error) }
        do { try await parts.store.endTurn(plan.lease) } catch {
            if case .success = result { return .failure(error) }
        }
        return result
    }

    private func traced() async throws -> TurnReport {
        try await parts.tracer.span("gateway.turn", of: "gateway") { span in
            span.set(.genAIConversation, .string(plan.session.id))
            span.set(.genAIModel, .string(plan.place.name))
            span.set("martlet.project.id", plan.project.map { .string($0.id) })
            let outcome = try await played()
            span.set("martlet.rounds", .int(outcome.rounds))
            span.set("martlet.tool_calls", .int(outcome.calls))
            span.set(outcome.usage)
            var place = plan.place
            // The requested name can leave the choice to the command, which then reports the model.
            if case .claude = plan.choice.backend { place.model = outcome.messages.last?.start?.model ?? place.model }
            return TurnReport(place, outcome)
        }
    }

    private func played() async throws -> TurnOutcome {
        let recorder = TurnRecorder(parts: parts, plan: plan, feed: control.feed)
        // The user's message is stored before the start of the turn is reported, even if it was already stopped.
        let before = try await shielded { [parts, plan] in
            let before = try await parts.store.messages(of: plan.session.id)
            try await recorder.begin()
            return before
        }
        control.feed.post([.began(plan.place)] + plan.notices.map(GatewayEvent.notice))
        var request = plan.chat
        request.model = plan.choice.description.id
        request.messages = HistoryRepair.repaired(plan.chat.messages + before + plan.messages)
        var outcome = try await parts.alarms.during {
            switch plan.choice.backend {
            case .provider(let provider): try await ask(provider, request, recorder)
            case .claude(let command): try await ask(command, request, recorder)
            }
        } ring: { [control] in
            control.stop(.timeLimit)
        }
        if case .stopped = outcome.end {
            switch control.reason {
            case .timeLimit: outcome.end = .failed(AnyFailure(GatewayError.timeOver(parts.settings.turnTime)))
            case .tokenEnded: outcome.end = .failed(AnyFailure(GatewayError.tokenEnded(plan.client)))
            case .asked, .vanished, .closing, nil: break
            }
        }
        try await recorder.end(outcome, control.reason)
        return outcome
    }

    private func ask(
        _ provider: any ModelProvider, _ request: ChatRequest, _ recorder: TurnRecorder
    ) async throws -> TurnOutcome {
        var loop = TurnLoop(
            sources: plan.sources, policy: plan.policy, clock: parts.clock, now: parts.now,
            approve: plan.canAsk ? asker : nil)
        loop.limits.rounds = max(1, parts.settings.rounds)
        loop.limits.callTime = parts.settings.callTime
        loop.budget = ContextBudget(for: plan.choice.description, options: request.options)
        loop.price = plan.choice.description.price
        loop.audit = await plan.callAudit(parts.store)
        let meter = TurnMeter(parts: parts, place: plan.place, client: plan.client)
        return try await loop.run(
            request,
            asking: { [parts, plan] request, receive in
                let admitted = try await meter.admit(request, after: recorder.spent)
                return try await parts.tracer.span("gateway.model", of: "gateway") { span in
                    // The provider says what it used, and must not be counted twice.
                    span.set(.genAIModel, .string(plan.place.name))
                    return try await provider.answer(admitted, receive)
                }
            },
            emit: { try await recorder.receive($0) })
    }
}

// MARK: Approval

extension AgentTurn {
    /// Asks the client for approval.
    private var asker: TurnLoop.Approve {
        { [parts, plan, control] request in
            try await parts.approvals.ask(request, session: plan.session.id, within: parts.settings.approvalTime) {
                control.feed.post([.approval($0)])
            }
        }
    }

    /// Runs the turn with the command, which asks its model and runs its tools itself, under the same rules and limits.
    private func ask(
        _ command: ClaudeCommand, _ request: ChatRequest, _ recorder: TurnRecorder
    ) async throws -> TurnOutcome {
        guard let project = plan.project else { throw GatewayError.needsProject(plan.choice.name) }
        let workspace = try project.workspace(parts.settings, plan.policy)
        let sandbox = parts.settings.shell.sandbox.map { ClaudeSandbox(workspace, $0) }
        let last = try await parts.store.lastAnswer(of: plan.session.id)
        let known = last?.provider == ClaudeCommand.provider ? last?.start?.id : nil
        let meter = TurnMeter(parts: parts, place: plan.place, client: plan.client)
        var command = command
        command.limits.rounds = max(1, parts.settings.rounds)
        // Approval requests already have their own limit, which should expire first.
        command.limits.approval = max(command.limits.approval, parts.settings.approvalTime + .seconds(5))
        func run(resuming session: String?) async throws -> TurnOutcome {
            try await command.run(
                request, in: workspace.path, sandbox: sandbox, resume: session, policy: plan.policy,
                approve: plan.canAsk ? asker : nil, admit: { try await meter.admit(after: $0, unstored: $1) },
                emit: { try await recorder.receive($0) })
        }
        let outcome = try await run(resuming: known)
        // The command forgets old sessions. Then it gets the conversation, as after an answer of another model.
        if known != nil, case .failed(let failure) = outcome.end, failure.code == "gateway.claude-session" {
            return try await run(resuming: nil)
        }
        return outcome
    }
}

/// Everything that an agent turn needs to run.
struct AgentPlan: Sendable {
    let session: Session
    let project: Project?
    let lease: TurnLease
    let choice: ModelChoice
    /// Options and schema as the client sent them, with only the system messages.
    let chat: ChatRequest
    /// The new messages for the session.
    let messages: [Message]
    let selection: ToolSelection
    let sources: [any ToolSource]
    let policy: ApprovalPolicy
    /// Notices for the start of the turn.
    let notices: [String]
    let canAsk: Bool
    let client: TurnClient?

    var place: TurnPlace {
        TurnPlace(
            session: session.id, project: project?.id, provider: choice.description.provider,
            model: choice.description.id)
    }
}
