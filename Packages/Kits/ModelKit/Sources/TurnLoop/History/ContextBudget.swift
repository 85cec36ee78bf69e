public import Capabilities

/// Decides what of a history is sent to a model with a limited context.
///
/// System messages and the newest turn are always sent, calls never without their results. Older turns are left out, the
/// oldest first, or replaced by a summary. What is left out is told to the model, in front of the first message that
/// is kept, and to the person, by a notice; it is never left out silently.
public struct ContextBudget: Sendable {
    /// Makes a summary of messages.
    public typealias Summarise = @Sendable ([Message]) async throws -> String

    /// How many tokens the model takes, with its answer.
    public var tokens: Int
    /// How many of them are kept for the answer.
    public var reserve: Int
    /// Nil where older turns are simply left out.
    public var summarise: Summarise?

    public init(tokens: Int, reserve: Int = 4096, summarise: Summarise? = nil) {
        self.tokens = tokens
        self.reserve = reserve
        self.summarise = summarise
    }

    /// For a model of a catalogue; nil when its context is not known.
    public init?(for model: ModelDescription, options: ModelOptions, summarise: Summarise? = nil) {
        guard let tokens = model.contextTokens else { return nil }
        let answer = options.maxTokens ?? min(model.outputTokens ?? 4096, 16_384)
        self.init(tokens: tokens, reserve: min(answer, tokens / 2), summarise: summarise)
    }

    /// The request with what fits of its messages.
    ///
    /// - Parameter cut: what was left out before. The same is left out again as long as that is enough, so that a
    ///   provider's cache goes on to fit; when it is not, a quarter of the room is made free at once.
    /// - Throws: only when the task is cancelled. A summary that fails is left out with a word about it.
    public func fit(
        _ request: ChatRequest, after cut: ContextCut? = nil, estimate: TokenEstimate = TokenEstimate()
    ) async throws -> FittedRequest {
        let room = tokens - reserve
        if estimate.tokens(of: request) <= room { return FittedRequest(request: request) }
        var history = HistoryParts(request, estimate: estimate, room: room)
        if let cut, history.canLeaveOut(cut.messages), history.size(leavingOut: cut.messages) <= room {
            history.leftOut = cut.messages
        } else {
            history.leaveOutTurns(until: room / 4 * 3)
        }
        history.leaveOutRounds(until: room)
        var summary = cut?.messages == history.leftOut ? cut?.summary : nil
        var problem: String?
        if summary == nil, let summarise, history.leftOut > 0 {
            do { summary = try await summarise(Array(history.body[..<history.leftOut])) } catch {
                try Task.checkCancellation()
                problem = AnyFailure(error).message
            }
        }
        return history.fitted(request, summary: summary, problem: problem, limit: room)
    }
}

/// What was left out of a history, to be left out again next time.
public struct ContextCut: Sendable, Hashable {
    /// How many messages, counted from the oldest after the system's.
    public var messages: Int
    /// What stands for them.
    public var summary: String?

    public init(messages: Int, summary: String? = nil) {
        self.messages = messages
        self.summary = summary
    }
}

/// A request as it is sent, and what is not in it.
public struct FittedRequest: Sendable, Hashable {
    public var request: ChatRequest
    public var cut: ContextCut?
    /// What a person has to be told; nil when everything is sent.
    public var notice: ContextNotice?
}

/// Says that not all of a history is sent.
public struct ContextNotice: Sendable, Hashable {
    /// How many messages are left out, those of steps of the newest turn included.
    public var messages: Int
    /// About how many tokens they would have taken.
    public var tokens: Int
    public var isSummarised: Bool
    /// Even the newest turn alone is too long by this estimate; it is sent all the same.
    public var isTooLong: Bool
    /// Why there is no summary though one was wanted.
    public var problem: String?

    /// The sentence that a person reads.
    public var text: String {
        var text = "\(messages) earlier message\(messages == 1 ? " does" : "s do") not fit into the model's context"
        text += " and \(messages == 1 ? "is" : "are") \(isSummarised ? "summarised" : "left out")"
        if messages == 0 { text = "the newest message alone is longer than the model's context" }
        if isTooLong, messages > 0 { text += ", and what is left is still too long" }
        if let problem { text += "; no summary could be made: \(problem)" }
        return text
    }

    /// Whether a person would read the same.
    func saysTheSame(as other: ContextNotice) -> Bool { text == other.text }
}
