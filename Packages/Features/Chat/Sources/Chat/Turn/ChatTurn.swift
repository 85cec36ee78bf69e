import Capabilities
import ChatHistory
import ChatProviders
import JSON
import Registry
import Settings
import TurnLoop

/// Runs one turn of a conversation: asks the model, does what it calls for, shows and stores what happens.
struct ChatTurn: Sendable {
    let services: ChatServices
    let context: ActionContext
    let plan: TurnPlan

    func run() async throws -> TurnReport {
        let recorder = TurnRecorder(history: services.history, plan: plan, context: context)
        let started = ContinuousClock.now
        var sources: [any ToolSource] = []
        if plan.options.usesTools { sources = try services.tools(context) }
        await recorder.begin()
        try await tellBeginning(sources)
        context.progress("waiting for \(PlainText.escape(plan.choice.model))")
        let provider = plan.choice.provider
        let outcome: TurnOutcome
        do {
            outcome = try await loop(sources).run(
                request(),
                asking: { request, receive in
                    do { return try await provider.answer(request, receive) } catch {
                        if !Task.isCancelled { await recorder.broke(error) }
                        throw error
                    }
                }
            ) { events in
                try await recorder.receive(events)
            }
        } catch {
            // Nobody reads on; what has come is kept.
            await recorder.end(TurnOutcome(end: .stopped))
            throw error
        }
        await recorder.end(outcome)
        if let failure = await recorder.failure {
            context.notice("This was not stored: \(AnyFailure(failure).message)")
        }
        return TurnReport(
            outcome, plan, start: await recorder.start, rules: await recorder.rules,
            duration: ContinuousClock.now - started)
    }

    private func request() -> ChatRequest {
        var messages = plan.before
        if !plan.system.isEmpty { messages.insert(Message(.system, plan.system), at: 0) }
        messages.append(plan.message)
        var request = ChatRequest(
            model: plan.choice.model, messages: HistoryRepair.repaired(messages), options: plan.options.model,
            schema: plan.schema, streams: plan.streams)
        for (name, value) in plan.extras { request.extras[name] = .string(value) }
        return request
    }

    private func loop(_ sources: [any ToolSource]) -> TurnLoop {
        var loop = services.loop(sources, rules: plan.rules, context)
        if let model = plan.choice.description {
            loop.budget = ContextBudget(for: model, options: plan.options.model)
            loop.price = model.price
        }
        return loop
    }

    private func tellBeginning(_ sources: [any ToolSource]) async throws {
        var fields: JSONObject = [
            "model": .string(plan.choice.model), "provider": .string(plan.choice.provider.id),
            "tools": .array(sources.map { .string($0.name) }),
        ]
        if let place = plan.place { fields["session_id"] = place.conversation.id.json }
        try await context.emit(ActionEvent("init", fields))
    }
}
