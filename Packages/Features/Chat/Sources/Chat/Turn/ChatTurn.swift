import Capabilities
import ChatHistory
import ChatProviders
import Registry
import Settings
import TurnLoop

/// Runs one turn of a conversation: asks the model, runs its tool calls, and shows and stores the events.
struct ChatTurn: Sendable {
    let services: ChatServices
    let context: ActionContext
    let plan: TurnPlan

    func run() async throws -> TurnReport {
        let summariser = summariser()
        let recorder = TurnRecorder(services: services, plan: plan, context: context, summariser: summariser)
        return try await context.tracer.span("chat.turn", of: "chat") { span in
            let result: Result<TurnReport, any Error>
            do { result = .success(try await run(summariser, recorder)) } catch { result = .failure(error) }
            let (conversation, answer) = (await recorder.conversation, await recorder.head)
            span.set(.genAIConversation, (conversation?.rawValue).map(SpanValue.string))
            span.set(.message, (answer?.rawValue).map { .int(Int($0)) })
            return try result.get()
        }
    }

    private func run(_ summariser: Summariser?, _ recorder: TurnRecorder) async throws -> TurnReport {
        let started = ContinuousClock.now
        let sources = try await sources()
        await recorder.begin(sources)
        context.progress("waiting for \(plan.answerer)")
        let provider = plan.choice.provider
        var outcome: TurnOutcome
        do {
            outcome = try await loop(sources, summariser, recorder).run(
                plan.request, after: plan.cut,
                asking: { request, receive in
                    do {
                        guard let agent = provider as? any AgentProvider else {
                            return try await provider.answer(request, receive)
                        }
                        let approver = Approver(context: context, isServer: true)
                        let options = AgentOptions(approve: approver.approve, tools: chosenTools(of: agent))
                        return try await agent.answer(request, with: options, receive)
                    } catch {
                        if !Task.isCancelled { await recorder.broke(error) }
                        throw error
                    }
                }
            ) { events in
                try await recorder.receive(events)
            }
            try await recorder.begun()
        } catch {
            // The reader is gone. What arrived is stored.
            await recorder.end(TurnOutcome(end: .stopped))
            throw error
        }
        await recorder.end(outcome)
        outcome.usage = outcome.usage + (await recorder.summaries)
        if let failure = await recorder.failure {
            context.notice("This turn was not stored: \(AnyFailure(failure).message)")
        }
        let report = TurnReport(
            outcome, plan, in: await recorder.conversation, start: await recorder.start, rules: await recorder.rules,
            duration: ContinuousClock.now - started)
        await tell(report, recorder)
        return report
    }

    /// Reports how the turn ended, on separate lines.
    private func tell(_ report: TurnReport, _ recorder: TurnRecorder) async {
        let shortfall = report.shortfall
        if context.isWatched || shortfall != nil || report.failure != nil || report.mismatch != nil {
            await recorder.endLine(isStopped: report.isStopped)
        }
        if let shortfall { context.notice(shortfall) }
        if let mismatch = report.mismatch {
            context.notice(mismatch.message)
            // A reader that is gone does not need this.
            do { try await context.emit(AnyFailure(mismatch).event) } catch {}
        }
        if context.isWatched, report.failure == nil { context.notice(report.footer) }
    }

    /// The tools for the model. A model with its own tools gets none, because it could not tell them apart.
    private func sources() async throws -> [any ToolSource] {
        guard let mode = plan.request.mode else { return [] }
        guard plan.choice.provider.runsTools else {
            return try await services.tools(mode, policy, context, in: plan.conversation)
        }
        if plan.choice.provider.obeysMode { return [] }
        let limits = mode == .readOnly ? "" : ", and its own rules apply"
        context.notice(
            "\(PlainText.escape(plan.choice.provider.name)) uses its own tools, so it gets no others\(limits)")
        return []
    }

    /// What the person chose of the server's tools for its new sessions; nil if no feature lets them choose.
    private func chosenTools(of provider: any AgentProvider) -> AgentOptions.Tools? {
        guard let defaults = context.registry.optional((any AgentToolDefaults).self) else { return nil }
        return { [context] project in
            guard let server = try await provider.agentServer() else { return nil }
            return try await defaults.tools(
                forNewSessionOf: server, profile: provider.id, project: project, telling: context.notice)
        }
    }

    private var policy: ApprovalPolicy {
        services.policy(plan.request.mode ?? .readOnly, rules: plan.rules, context)
    }

    private func summariser() -> Summariser? {
        guard plan.summarises, let tokens = plan.choice.description?.contextTokens else { return nil }
        return Summariser(plan.choice, room: tokens, after: plan.cut)
    }

    private func loop(
        _ sources: [any ToolSource], _ summariser: Summariser?, _ recorder: TurnRecorder
    ) -> TurnLoop {
        var loop = services.loop(sources, policy, context)
        loop.audit = services.audit(isSaved: plan.opening != nil) { await recorder.conversation?.rawValue }
        guard let model = plan.choice.description else { return loop }
        loop.budget = ContextBudget(for: model, options: plan.request.options)
        loop.price = model.price
        if let summariser {
            loop.budget?.summarise = { [context] messages in
                context.progress("summarising \(messages.count) earlier messages")
                return try await summariser.summarise(messages)
            }
        }
        return loop
    }
}

/// Everything that one turn needs.
struct TurnPlan: Sendable {
    var choice: ModelChoice
    var request: ChatRequest
    /// The new message, as it is stored.
    var message: Message
    /// Whether old turns that do not fit are summarised; otherwise they are left out.
    var summarises: Bool
    /// The conversation that it continues, if it is stored.
    var conversation: ConversationID?
    /// The rules of the user since the command started.
    var rules: [ApprovalRule] = []
    /// What was left out of the last request.
    var cut: ContextCut?
    /// Returns where the turn is stored; nil for a turn that is not saved. It runs while the question is already being
    /// sent.
    var opening: (@Sendable () async -> Place?)?

    /// The name to show while waiting: the model, or the provider if the server chooses the model.
    var answerer: String {
        PlainText.escape(choice.model.isEmpty ? choice.provider.name : choice.model)
    }

    /// A place in the history.
    struct Place: Sendable {
        let conversation: Conversation
        /// The message before the new one.
        let after: MessageID?
        var placement = Placement.next
    }
}
