public import Capabilities

/// Runs one turn of a person: asks the model, does what it calls for, and asks again, until it has answered.
///
///     let loop = TurnLoop(sources: [files], clock: host.clock, now: host.now, approve: approve)
///     let outcome = try await loop.run(request, asking: { try await provider.answer($0, $1) }) { events in
///         try await show(events)
///     }
///
/// The next events are read when the closure that is given them has returned, so that a slow reader slows the turn.
public struct TurnLoop: Sendable {
    /// Asks a model, as `ModelProvider.answer` does.
    public typealias Model =
        @Sendable (
            _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
        ) async throws -> ChatAnswer
    public typealias Emit = @Sendable ([TurnEvent]) async throws -> Void
    /// Asks the person. Throws `InteractionError.unanswered` where nobody is there.
    public typealias Approve = @Sendable (ApprovalRequest) async throws -> ApprovalAnswer

    public var sources: [any ToolSource]
    public var policy: ApprovalPolicy
    public var limits = TurnLimits()
    /// How tools are put to the model.
    public var formatter: any ToolFormatter = NativeTools()
    /// How much of the history fits; all of it is sent where that is not known.
    public var budget: ContextBudget?
    /// What the model costs, for servers that do not say it themselves.
    public var price: ModelPrice?
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    let approve: Approve?

    /// - Parameter approve: nil where nobody is there; what had to be asked is denied then.
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

    /// Runs a turn; the person's message is the last of the request.
    ///
    /// Cancelling stops it at once: tools are cancelled and not waited for, what has come is kept, and each call gets
    /// an answer, so that the history can be sent to any provider. The outcome says `.stopped` then. All that has to be
    /// stored is emitted even so, shielded from the cancellation; only pieces of a streamed answer are not.
    ///
    /// - Parameter cut: what an earlier turn of the conversation left out of the history.
    /// - Throws: only what `emit` throws. What goes wrong with the model or a tool is in the outcome.
    public func run(
        _ request: ChatRequest, after cut: ContextCut? = nil, asking model: @escaping Model, emit: @escaping Emit
    ) async throws -> TurnOutcome {
        try await TurnRun(loop: self, request: request, cut: cut, model: model, sink: EventSink(emit: emit)).run()
    }

    /// Does one call again, perhaps with another input, under the same rules.
    ///
    /// - Throws: only what `emit` throws.
    public func run(again call: ToolCall, emit: @escaping Emit) async throws -> ToolResult {
        let toolBox = await ToolBox.open(sources, limit: limits.callTime, clock: clock)
        let calls = CallRun(loop: self, toolBox: toolBox, policy: policy, sink: EventSink(emit: emit))
        var call = call
        call.isDone = false
        let results = try await calls.answer(Message(.assistant, [.call(call)]))
        return results.first ?? ToolResult(call: call.id, content: CallWords.stopped, isError: true)
    }
}

/// How far one turn may go.
public struct TurnLimits: Sendable, Hashable {
    /// How often the model is asked.
    public var rounds = 50
    /// How many calls of one answer are done.
    public var callsPerAnswer = 64
    /// How many calls that only read run at the same time.
    public var parallelCalls = 8
    /// How long one call may take.
    public var callTime: Duration = .seconds(30)
    /// How many bytes of one result the model is given.
    public var resultBytes = 50_000

    public init() {}
}

/// What came of a turn.
public struct TurnOutcome: Sendable {
    public var end: End
    /// The last answer that was whole.
    public var answer: ChatAnswer?
    /// Everything that the turn added to the conversation, in order.
    public var messages: [TurnMessage] = []
    /// What all answers took together.
    public var usage = Usage()
    /// How often the model was asked.
    public var rounds = 0
    /// How many calls there were, without those that the server did itself.
    public var calls = 0
    /// How many of them ended in an error.
    public var failedCalls = 0
    /// Whether a call was denied only because nobody was there to approve it.
    public var isUnapproved = false
    /// Whether a call was denied because the answer that was given beforehand does not fit the question.
    public var hasUnfitApproval = false
    /// What was left out of the history; the next turn goes on from there.
    public var cut: ContextCut?

    /// Why a turn ended.
    public enum End: Sendable {
        /// The model had its say.
        case answered
        /// The person, or whoever cancelled the task.
        case stopped
        /// There is no whole answer.
        case failed(AnyFailure)
        /// The model wanted still more calls after as many rounds as are allowed.
        case roundLimit
    }

    public init(end: End = .answered) {
        self.end = end
    }

    /// The exit code of a command that ran this turn. A tool that failed is the model's affair; a call that nobody
    /// could approve is not. An answer given beforehand that does not fit is a mistake in the command, as it is elsewhere.
    public var exit: ExitCode {
        switch end {
        case .answered: hasUnfitApproval ? .usage : isUnapproved ? .unanswered : .done
        case .stopped: .interrupted
        case .failed(let failure): failure.exit
        case .roundLimit: .failed
        }
    }
}
