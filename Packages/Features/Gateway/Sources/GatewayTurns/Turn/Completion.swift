import Capabilities
import GatewayStore
import JSON
import Synchronization
import TurnLoop

/// Asks a model once, with the client's request. Only the usage is stored.
///
/// It is a class, and code that does not suspend is in separate functions: there may be thousands at a time, and
/// everything that lives across a suspension point takes memory for each.
final class Completion: Sendable {
    private let parts: TurnParts
    private let provider: any ModelProvider
    private let model: ModelDescription
    private let request: ChatRequest
    private let client: TurnClient?
    private let control: TurnControl
    private let state = Mutex(State())

    private struct State {
        var isAnything = false
        var usage = Usage()
        var answer: ChatAnswer?
        var end = TurnOutcome.End.answered
    }

    init(
        parts: TurnParts, provider: any ModelProvider, model: ModelDescription, request: ChatRequest,
        client: TurnClient?, control: TurnControl
    ) throws {
        self.parts = parts
        self.provider = provider
        self.model = model
        self.client = client
        self.control = control
        let place = TurnPlace(provider: model.provider, model: model.id)
        let meter = TurnMeter(parts: parts, place: place, client: client)
        self.request = try meter.limited(request, after: TurnUsage())
    }

    var place: TurnPlace { TurnPlace(provider: model.provider, model: model.id) }

    func run() async -> Result<TurnReport, any Error> {
        do {
            try await parts.tracer.span("gateway.completion", of: "gateway") { span in
                span.set(.genAIModel, .string(place.name))
                try await work()
            }
            return report()
        } catch {
            return .failure(error)
        }
    }

    @inline(never)
    private func work() async throws {
        let alarm = begin()
        await ask()
        parts.alarms.cancel(alarm)
        if isAnything { try await account() }
    }

    @inline(never)
    private func account() async throws {
        do {
            try await parts.store.account(entry)
        } catch {
            // The answer is complete and paid for: the client gets it, with the reason why it could not be counted.
            if !keepAnswer(in: error) { throw error }
        }
    }

    @inline(never)
    private func ask() async {
        do {
            keep(try await provider.answer(request) { try await receive($0) })
        } catch {
            keep(error)
        }
    }

    @inline(never)
    private func receive(_ events: [ChatEvent]) async throws {
        await control.feed.send(heard(events))
        try Task.checkCancellation()
    }
}

// MARK: Code that does not suspend

extension Completion {
    /// Reports the start of the turn, and sets an alarm for its time limit.
    @inline(never)
    private func begin() -> Int {
        control.feed.post([.began(place)])
        return parts.alarms.set { [control] in control.stop(.timeLimit) }
    }

    @inline(never)
    private func heard(_ events: [ChatEvent]) -> [GatewayEvent] {
        state.withLock { state in
            for event in events {
                switch event {
                case .usage(let usage): state.usage = usage
                case .began, .notice: continue
                default: break
                }
                state.isAnything = true
            }
        }
        return EventCoalescer.coalesce(events).map(GatewayEvent.chat)
    }

    @inline(never)
    private func keep(_ answer: consuming ChatAnswer) {
        answer.usage.cost = answer.usage.cost ?? model.price?.cost(of: answer.usage)
        state.withLock { state in
            state.isAnything = true
            state.usage = answer.usage
            state.answer = answer
        }
    }

    @inline(never)
    private func keep(_ error: any Error) {
        let end: TurnOutcome.End =
            switch control.reason {
            case .timeLimit: .failed(AnyFailure(GatewayError.timeOver(parts.settings.turnTime)))
            case .tokenEnded: .failed(AnyFailure(GatewayError.tokenEnded(client)))
            case .asked, .vanished, .closing: .stopped
            case nil: .failed(AnyFailure(error))
            }
        state.withLock { state in
            state.end = end
            state.usage.cost = state.usage.cost ?? model.price?.cost(of: state.usage)
        }
    }

    /// Keeps the answer with an error; returns false if there is no answer.
    @inline(never)
    private func keepAnswer(in error: any Error) -> Bool {
        state.withLock { state in
            guard state.answer != nil else { return false }
            state.end = .failed(AnyFailure(error))
            return true
        }
    }

    /// Whether the model sent anything, so that there is usage to count.
    private var isAnything: Bool { state.withLock { $0.isAnything } }

    @inline(never)
    private var entry: UsageEntry {
        UsageEntry(
            client: client?.name, provider: model.provider, model: model.id, usage: state.withLock { $0.usage })
    }

    @inline(never)
    private func report() -> Result<TurnReport, any Error> {
        state.withLock { state in
            var outcome = TurnOutcome(end: state.end)
            outcome.rounds = 1
            outcome.usage = state.usage
            if let answer = state.answer {
                outcome.answer = answer
                outcome.messages = [
                    TurnMessage(answer.message, start: answer.start, finish: answer.finish, usage: answer.usage)
                ]
            }
            return .success(TurnReport(place, outcome))
        }
    }
}
