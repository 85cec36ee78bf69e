public import Capabilities

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
