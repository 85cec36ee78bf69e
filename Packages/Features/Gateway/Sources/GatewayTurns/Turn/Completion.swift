import Capabilities
import GatewayStore
import JSON
import TurnLoop

/// Asks a model once, with what the client sent. Nothing is remembered but what it took.
struct Completion: Sendable {
    let parts: TurnParts
    let provider: any ModelProvider
    let model: ModelDescription
    let request: ChatRequest
    let control: TurnControl

    private var place: TurnPlace { TurnPlace(provider: model.provider, model: model.id) }

    func run() async -> Result<TurnReport, any Error> {
        do {
            return try await parts.tracer.span(
                "gateway.completion", feature: "gateway", attributes: ["model": .string(place.name)]
            ) {
                control.feed.post([.began(place)])
                return .success(TurnReport(place, try await asked()))
            }
        } catch {
            return .failure(error)
        }
    }

    private func asked() async throws -> TurnOutcome {
        var outcome = TurnOutcome()
        outcome.rounds = 1
        var heard = Heard()
        do {
            let meter = TurnMeter(parts: parts, place: place)
            let request = try await meter.admit(request, after: TurnSpending())
            let feed = control.feed
            var answer = try await withAlarm(
                after: parts.settings.turnTime, on: parts.clock, ring: { [control] in control.stop(.timeLimit) }
            ) {
                try await provider.answer(request) { events in
                    heard.receive(events)
                    await feed.send(EventCoalescer.coalesce(events).map(GatewayEvent.chat))
                    try Task.checkCancellation()
                }
            }
            answer.usage.cost = answer.usage.cost ?? model.price?.cost(of: answer.usage)
            outcome.answer = answer
            outcome.usage = answer.usage
            outcome.messages = [
                TurnMessage(answer.message, start: answer.start, finish: answer.finish, usage: answer.usage)
            ]
        } catch {
            outcome.end = end(by: error)
            outcome.usage = heard.usage
            outcome.usage.cost = outcome.usage.cost ?? model.price?.cost(of: outcome.usage)
            // Nothing came, so that nothing is known to have been used.
            guard heard.isAnything else { return outcome }
        }
        do {
            try await parts.store.account(UsageEntry(provider: model.provider, model: model.id, usage: outcome.usage))
        } catch {
            // The answer is there and was paid for: the client gets it, with why it could not be counted.
            if outcome.answer != nil { outcome.end = .failed(AnyFailure(error)) } else { throw error }
        }
        return outcome
    }

    private func end(by error: any Error) -> TurnOutcome.End {
        switch control.reason {
        case .timeLimit: .failed(AnyFailure(GatewayError.timeOver(parts.settings.turnTime)))
        case .asked, .vanished, .closing: .stopped
        case nil: .failed(AnyFailure(error))
        }
    }

    /// What is known of an answer that may not become whole.
    private struct Heard {
        var isAnything = false
        var usage = Usage()

        mutating func receive(_ events: [ChatEvent]) {
            for event in events {
                switch event {
                case .usage(let usage): self.usage = usage
                case .began, .notice: continue
                default: break
                }
                isAnything = true
            }
        }
    }
}
