import Capabilities
import ModelKit

/// A running turn. It belongs to the task that runs it; only tools run in parallel.
final class TurnRun {
    private let loop: TurnLoop
    private let request: ChatRequest
    private let model: TurnLoop.Model
    private let sink: EventSink
    private let timer: SharedTimer

    private var history: [Message]
    private var conversation: ConversationTools?
    private var outcome = TurnOutcome()
    private var estimate = TokenEstimate()
    private var lastNotice: ContextNotice?
    /// The error of the event reader, which ends the turn.
    private var emitFailure: (any Error)?

    init(
        loop: TurnLoop, request: ChatRequest, cut: ContextCut?, model: @escaping TurnLoop.Model,
        sink: EventSink, timer: SharedTimer
    ) {
        self.loop = loop
        self.request = request
        self.model = model
        self.sink = sink
        self.timer = timer
        history = request.messages
        outcome.cut = cut
    }

    func run() async throws -> TurnOutcome {
        let toolBox = await ToolBox.open(loop.sources, loop.limits, clock: loop.clock, history: history)
        conversation = toolBox.conversation
        try await deliver(toolBox.notices.map(TurnEvent.notice))
        let calls = CallRun(loop: loop, toolBox: toolBox, policy: loop.policy, sink: sink, timer: timer)
        repeat {
            outcome.rounds += 1
            guard let answer = try await ask(offering: toolBox.descriptions) else { break }
            outcome.answer = answer
            outcome.usage = outcome.usage + answer.usage
            outcome.isUnapproved = outcome.isUnapproved || answer.isUnapproved
            outcome.hasUnfitApproval = outcome.hasUnfitApproval || answer.hasUnfitApproval
            try await keep(
                TurnMessage(answer.message, start: answer.start, finish: answer.finish, usage: answer.usage))
            try await calls.show(doneBy: answer.message)
            guard !answer.message.openCalls.isEmpty else { break }
            try await answerCalls(of: answer, calls)
            if Task.isCancelled { outcome.end = .stopped }
        } while outcome.end.isOpen && !wasRefused
        outcome.calls = calls.count
        outcome.failedCalls = calls.failed
        outcome.isUnapproved = outcome.isUnapproved || calls.isUnapproved
        outcome.hasUnfitApproval = outcome.hasUnfitApproval || calls.hasUnfitApproval
        return outcome
    }

    /// A filter withheld the answer, so the turn cannot continue.
    private var wasRefused: Bool { outcome.answer?.finish == .refused }

    private func answerCalls(of answer: ChatAnswer, _ calls: CallRun) async throws {
        let results: [ToolResult]
        if wasRefused {
            results = try await calls.turnDown(answer.message, CallMessages.refused)
        } else if outcome.rounds >= loop.limits.rounds, !Task.isCancelled {
            outcome.end = .roundLimit
            results = try await calls.turnDown(answer.message, CallMessages.rounds(loop.limits.rounds))
        } else {
            results = try await calls.answer(answer.message)
        }
        try await keep(TurnMessage(Message(.tool, results.map(Message.Part.result))))
    }
}

// MARK: One answer

extension TurnRun {
    /// The model's next answer, or nil if there is none; the outcome has the reason.
    private func ask(offering tools: [ToolDescription]) async throws -> ChatAnswer? {
        var reader = loop.formatter.reader(after: history)
        var partial = PartialAnswer()
        do {
            try Task.checkCancellation()
            let request = try await fitted(tools)
            try await deliver([.round(outcome.rounds)])
            var answer = try await model(loop.formatter.request(request)) { [self] events in
                let events = EventCoalescer.coalesce(reader.receive(events))
                for event in events { partial.add(event) }
                try await stream(events)
            }
            try await deliver(reader.finish().map(TurnEvent.chat))
            answer = loop.formatter.answer(answer, after: history)
            answer.message = CallIdentity.distinct(answer.message)
            if let reported = answer.usage.inputTokens {
                estimate.learn(reported: reported, for: request)
            }
            if answer.usage.cost == nil { answer.usage.cost = loop.price?.cost(of: answer.usage) }
            return answer
        } catch {
            if let emitFailure { throw emitFailure }
            for event in reader.finish() { partial.add(event) }
            try await keep(partial, endedBy: error)
            return nil
        }
    }

    /// The request: a valid history with shortened results, as much of it as fits.
    private func fitted(_ tools: [ToolDescription]) async throws -> ChatRequest {
        var request = request
        request.tools = tools
        request.messages = ResultTrim.trimmed(
            HistoryRepair.repaired(history), to: loop.limits.resultBytes, canRead: conversation != nil)
        guard let budget = loop.budget else { return request }
        let fitted = try await budget.fit(request, after: outcome.cut, estimate: estimate)
        outcome.cut = fitted.cut
        if let notice = fitted.notice, lastNotice?.saysTheSame(as: notice) != true {
            try await deliver([.context(notice)])
        }
        lastNotice = fitted.notice
        return fitted.request
    }

    /// Keeps what arrived of an incomplete answer.
    private func keep(_ partial: PartialAnswer, endedBy error: any Error) async throws {
        let isStopped = Task.isCancelled || error is CancellationError
        outcome.end = isStopped ? .stopped : .failed(AnyFailure(error))
        var usage = partial.usage
        if let known = usage, known.cost == nil { usage?.cost = loop.price?.cost(of: known) }
        outcome.usage = outcome.usage + (usage ?? Usage())
        let message = CallIdentity.distinct(Message(.assistant, partial.parts))
        guard !message.parts.isEmpty else { return }
        try await keep(TurnMessage(message, isWhole: false, start: partial.start, usage: usage))
        guard !message.openCalls.isEmpty else { return }
        let calls = CallRun(loop: loop, toolBox: ToolBox(), policy: loop.policy, sink: sink, timer: timer)
        let results = try await calls.turnDown(message, isStopped ? CallMessages.stopped : CallMessages.brokenOff)
        try await keep(TurnMessage(Message(.tool, results.map(Message.Part.result))))
    }
}

// MARK: Events

extension TurnRun {
    private func keep(_ message: TurnMessage) async throws {
        history.append(message.message)
        conversation?.note(message.message)
        outcome.messages.append(message)
        try await deliver([.message(message)])
    }

    /// Pieces of an answer. Cancelling ends this at once.
    private func stream(_ events: [ChatEvent]) async throws {
        guard !events.isEmpty else { return }
        do { try await sink.emit(events.map(TurnEvent.chat)) } catch {
            if !Task.isCancelled, !(error is CancellationError) { emitFailure = error }
            throw error
        }
    }

    private func deliver(_ events: [TurnEvent]) async throws {
        do { try await sink.deliver(events) } catch {
            emitFailure = error
            throw error
        }
    }
}
