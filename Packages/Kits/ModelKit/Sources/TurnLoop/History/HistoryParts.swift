import Capabilities

/// A history with the sizes of its messages, of which the oldest are left out until it fits.
struct HistoryParts {
    /// What is always sent.
    private let system: [Message]
    /// All other messages.
    let body: [Message]
    private let estimate: TokenEstimate
    /// The size of all that stands in front of each message; one longer than the messages.
    private let sums: [Int]
    /// The size of system messages, tools, schema and the note.
    private let fixed: Int
    /// Where a person's turn begins.
    private let turns: [Int]

    /// How many messages are left out at the beginning.
    var leftOut = 0
    /// Which steps of the newest turn are left out too.
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

    /// Steps of the newest turn, each an answer with the results of its calls, where the turn alone is too long. The
    /// person's message and the newest step stay.
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

    /// What the model is told. It stands in the person's message, because a summary of what was said before must not
    /// have the weight of a system message.
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
