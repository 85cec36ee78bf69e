public import Capabilities

/// Decides which part of a history is sent to a model with a limited context.
///
/// System messages and the newest turn are always sent, and calls never without their results. Older turns are left
/// out, oldest first, or replaced by a summary. The model is told in front of the first remaining message, and the user
/// by a notice; nothing is left out silently.
public struct ContextBudget: Sendable {
    /// Summarises messages.
    public typealias Summarise = @Sendable ([Message]) async throws -> String

    /// The context size in tokens, including the answer.
    public var tokens: Int
    /// The tokens reserved for the answer.
    public var reserve: Int
    /// Nil if older turns are only left out.
    public var summarise: Summarise?

    /// - Parameter tokens: the context size, including the answer.
    public init(tokens: Int, reserve: Int = 4096, summarise: Summarise? = nil) {
        self.tokens = tokens
        self.reserve = reserve
        self.summarise = summarise
    }

    /// For a model of a catalogue; nil if its context size is unknown.
    public init?(for model: ModelDescription, options: ModelOptions, summarise: Summarise? = nil) {
        guard let tokens = model.contextTokens else { return nil }
        let answer = options.maxTokens ?? min(model.outputTokens ?? 4096, 16_384)
        self.init(tokens: tokens, reserve: min(answer, tokens / 2), summarise: summarise)
    }

    /// The request with the messages that fit.
    ///
    /// - Parameter cut: what was left out before. The same is left out again while that is enough, so that a provider's
    ///   cache stays valid. When it is not, a quarter of the room is freed at once.
    /// - Throws: only when the task is cancelled. A failed summary is left out with a note.
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
    /// The number of messages, counted from the oldest after the system messages.
    public var messages: Int
    /// The summary that replaces them.
    public var summary: String?

    /// - Parameter summary: nil if the messages are only left out.
    public init(messages: Int, summary: String? = nil) {
        self.messages = messages
        self.summary = summary
    }
}

/// A request as it is sent, and what it leaves out.
public struct FittedRequest: Sendable, Hashable {
    /// The request with the messages that fit. If some are left out, a note in it tells the model.
    public var request: ChatRequest
    /// What to leave out again next time; nil if no turn is left out.
    public var cut: ContextCut?
    /// The notice for the user; nil if everything is sent.
    public var notice: ContextNotice?
}

/// Reports that not all of a history is sent.
public struct ContextNotice: Sendable, Hashable {
    /// The number of messages left out, including those of steps of the newest turn.
    public var messages: Int
    /// Their estimated number of tokens.
    public var tokens: Int
    /// Whether a summary replaces them.
    public var isSummarised: Bool
    /// By this estimate even the newest turn alone is too long. It is sent anyway.
    public var isTooLong: Bool
    /// Why there is no summary although one was requested.
    public var problem: String?

    /// The sentence for the user.
    public var text: String {
        var text = "\(messages) earlier message\(messages == 1 ? " does" : "s do") not fit into the model's context"
        text += " and \(messages == 1 ? "is" : "are") \(isSummarised ? "summarised" : "left out")"
        if messages == 0 { text = "the newest message alone is longer than the model's context" }
        if isTooLong, messages > 0 { text += ", and the rest is still too long" }
        if let problem { text += "; no summary could be made: \(problem)" }
        return text
    }

    /// Whether the sentence for the user is the same.
    func saysTheSame(as other: ContextNotice) -> Bool { text == other.text }
}

/// A history with the sizes of its messages. The oldest are left out until it fits.
struct HistoryParts {
    /// The messages that are always sent.
    private let system: [Message]
    /// All other messages.
    let body: [Message]
    private let estimate: TokenEstimate
    /// The total size before each message; one element more than the messages.
    private let sums: [Int]
    /// The size of system messages, tools, schema and the note.
    private let fixed: Int
    /// The indices at which turns begin.
    private let turns: [Int]

    /// The number of messages left out at the beginning.
    var leftOut = 0
    /// The steps of the newest turn that are left out too.
    private var rounds: Range<Int>?

    init(_ request: ChatRequest, estimate: TokenEstimate, room: Int) {
        self.estimate = estimate
        system = Array(request.messages.prefix { $0.role == .system })
        let body = Array(request.messages.dropFirst(system.count))
        self.body = body
        var frame = request
        frame.messages = system
        fixed = estimate.tokens(of: frame) + 40
        sums = body.reduce(into: [0]) { sums, message in
            sums.append((sums.last ?? 0) + estimate.tokens(of: message))
        }
        turns = body.indices.filter { body[$0].role == .user }
    }

    func canLeaveOut(_ count: Int) -> Bool { turns.contains(count) }

    func size(leavingOut count: Int) -> Int { fixed + (sums.last ?? 0) - sums[count] }

    /// Whole turns, but never the newest.
    mutating func leaveOutTurns(until limit: Int) {
        leftOut = turns.first { size(leavingOut: $0) <= limit } ?? turns.last ?? 0
    }

    /// Steps of the newest turn, each an answer with its results, if the turn alone is too long. The user's message and
    /// the newest step stay.
    mutating func leaveOutRounds(until limit: Int) {
        guard size(leavingOut: leftOut) > limit, let newest = turns.last, leftOut == newest else { return }
        let steps = body.indices.filter { $0 > newest && body[$0].role == .assistant }
        guard let first = steps.first, steps.count > 1 else { return }
        let end = steps.dropFirst().first { size(leavingOut: leftOut) - (sums[$0] - sums[first]) <= limit }
        rounds = first..<(end ?? steps[steps.count - 1])
    }

    func fitted(_ request: ChatRequest, summary: String?, problem: String?, limit: Int) -> FittedRequest {
        let skipped = rounds?.count ?? 0
        var kept = body.indices.filter { $0 >= leftOut && rounds?.contains($0) != true }.map { body[$0] }
        let tokens = sums[leftOut] + (rounds.map { sums[$0.upperBound] - sums[$0.lowerBound] } ?? 0)
        if leftOut + skipped > 0 {
            let note = note(skipped: skipped, summary: summary)
            if kept.first?.role == .user {
                kept[0].parts.insert(.text(note), at: 0)
            } else {
                kept.insert(Message(.user, note), at: 0)
            }
        }
        var request = request
        request.messages = system + kept
        return FittedRequest(
            request: request, cut: leftOut > 0 ? ContextCut(messages: leftOut, summary: summary) : nil,
            notice: ContextNotice(
                messages: leftOut + skipped, tokens: tokens, isSummarised: summary != nil,
                isTooLong: estimate.tokens(of: request) > limit, problem: problem))
    }

    /// The note for the model. It is in the user's message, because a summary must not have the weight of a system
    /// message.
    private func note(skipped: Int, summary: String?) -> String {
        var notes: [String] = []
        if leftOut > 0, let summary {
            notes.append("[\(leftOut) earlier messages of this conversation, summarised: \(summary)]")
        } else if leftOut > 0 {
            notes.append("[\(leftOut) earlier messages of this conversation are left out here.]")
        }
        if skipped > 0 { notes.append("[\(skipped) messages between this one and the newest step are left out.]") }
        return notes.joined(separator: "\n") + "\n\n"
    }
}
