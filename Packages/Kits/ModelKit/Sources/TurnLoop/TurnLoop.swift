public import Capabilities

/// Runs one turn of the user: asks the model, runs its calls, and asks again, until it has answered.
///
///     let loop = TurnLoop(sources: [files], clock: host.clock, now: host.now, approve: approve)
///     let outcome = try await loop.run(request, asking: { try await provider.answer($0, $1) }) { events in
///         try await show(events)
///     }
///
/// The next events are read when the closure for the current ones has returned, so a slow reader slows down the turn.
public struct TurnLoop: Sendable {
    /// Asks a model, as `ModelProvider.answer` does.
    public typealias Model =
        @Sendable (
            _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
        ) async throws -> ChatAnswer
    /// Receives the events of a turn, several at once if they arrive fast.
    public typealias Emit = @Sendable ([TurnEvent]) async throws -> Void
    /// Asks the user. Throws `InteractionError.unanswered` if nobody can answer.
    public typealias Approve = @Sendable (ApprovalRequest) async throws -> ApprovalAnswer

    /// Where the tools come from.
    public var sources: [any ToolSource]
    /// The rules for calls, and the mode for calls without a rule.
    public var policy: ApprovalPolicy
    /// The limits of a turn and its calls.
    public var limits = TurnLimits()
    /// How tools are described to the model.
    public var formatter: any ToolFormatter = NativeTools()
    /// The context limit; nil sends the whole history.
    public var budget: ContextBudget?
    /// Where calls are recorded; nil records none.
    public var audit: CallAudit?
    /// The price of the model, for servers that do not report the cost.
    public var price: ModelPrice?
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    let approve: Approve?

    /// - Parameter approve: nil if nobody can answer; calls that need approval are then denied.
    public init(
        sources: [any ToolSource] = [], policy: ApprovalPolicy = ApprovalPolicy(), clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp, approve: Approve? = nil
    ) {
        self.sources = sources
        self.policy = policy
        self.clock = clock
        self.now = now
        self.approve = approve
    }

    /// Runs a turn. The user's message is the last of the request.
    ///
    /// Cancelling stops it at once: tools are cancelled and not awaited, what arrived is kept, and each call gets an
    /// answer, so that the history can be sent to any provider. The outcome is then `.stopped`. Everything that must be
    /// stored is emitted anyway, shielded from the cancellation; only pieces of a streamed answer are not.
    ///
    /// - Parameter cut: what an earlier turn of the conversation left out of the history.
    /// - Throws: only what `emit` throws. Failures of the model or a tool are in the outcome.
    public func run(
        _ request: ChatRequest, after cut: ContextCut? = nil, asking model: @escaping Model, emit: @escaping Emit
    ) async throws -> TurnOutcome {
        try await SharedTimer.run(on: clock) { timer in
            let turn = TurnRun(
                loop: self, request: request, cut: cut, model: model, sink: EventSink(emit: emit), timer: timer)
            return try await turn.run()
        }
    }

    /// Runs one call again, optionally with another input, under the same rules.
    ///
    /// - Throws: only what `emit` throws.
    public func run(again call: ToolCall, emit: @escaping Emit) async throws -> ToolResult {
        let toolBox = await ToolBox.open(sources, limits, clock: clock)
        var call = call
        call.isDone = false
        let message = Message(.assistant, [.call(call)])
        let results = try await SharedTimer.run(on: clock) { timer in
            try await CallRun(loop: self, toolBox: toolBox, policy: policy, sink: EventSink(emit: emit), timer: timer)
                .answer(message)
        }
        return results.first ?? ToolResult(call: call.id, content: CallMessages.stopped, isError: true)
    }
}

/// The limits of one turn.
public struct TurnLimits: Sendable, Hashable {
    /// How often the model is asked.
    public var rounds = 50
    /// How many calls of one answer are run.
    public var callsPerAnswer = 64
    /// How many calls that only read run in parallel.
    public var parallelCalls = 8
    /// How long one call may take.
    public var callTime: Duration = .seconds(30)
    /// How many bytes of one result the model receives.
    public var resultBytes = 50_000
    /// How many tools of servers are described to the model; of more, it gets a tool that finds them.
    public var describedTools = 60
    /// How many tokens the descriptions of tools of servers may have; above, it gets a tool that finds them.
    public var describedTokens = 15_000

    /// The default limits.
    public init() {}
}

/// The result of a turn.
public struct TurnOutcome: Sendable {
    /// Why the turn ended.
    public var end: End
    /// The last complete answer.
    public var answer: ChatAnswer?
    /// Everything that the turn added to the conversation, in order.
    public var messages: [TurnMessage] = []
    /// The total usage of all answers.
    public var usage = Usage()
    /// How often the model was asked.
    public var rounds = 0
    /// The number of calls, without those that the server ran.
    public var calls = 0
    /// The number of calls that failed.
    public var failedCalls = 0
    /// Whether a call was denied only because nobody could approve it.
    public var isUnapproved = false
    /// Whether a call was denied because the prepared answer does not match the question.
    public var hasUnfitApproval = false
    /// What was left out of the history. The next turn continues from there.
    public var cut: ContextCut?

    /// Why a turn ended.
    public enum End: Sendable {
        /// The model has answered.
        case answered
        /// The user, or whoever cancelled the task.
        case stopped
        /// There is no complete answer.
        case failed(AnyFailure)
        /// The model requested more calls after the maximum number of rounds.
        case roundLimit

        /// Whether nothing has ended the turn yet.
        var isOpen: Bool {
            if case .answered = self { true } else { false }
        }
    }

    /// An outcome without answers and messages, to which the turn adds what happens.
    public init(end: End = .answered) {
        self.end = end
    }

    /// The exit code of a command that ran this turn. A failed tool does not matter, because the model handles it; a
    /// call that nobody could approve does. A prepared answer that does not match is a usage error.
    public var exit: ExitCode {
        switch end {
        case .answered: hasUnfitApproval ? .usage : isUnapproved ? .unanswered : .done
        case .stopped: .interrupted
        case .failed(let failure): failure.exit
        case .roundLimit: .failed
        }
    }
}
