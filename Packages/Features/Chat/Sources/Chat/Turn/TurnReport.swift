import Capabilities
import ChatHistory
import ChatProviders
import JSON
import TurnLoop

/// What came of a turn: the last line of its events, and what a command prints in machine formats.
struct TurnReport: Record {
    let outcome: TurnOutcome
    let conversation: ConversationID?
    let model: String
    let provider: String
    let text: String
    let duration: Duration
    let start: ChatStart
    /// What the person has decided about tools so far.
    let rules: [ApprovalRule]
    /// Why the answer is not what its schema asks for.
    let mismatch: AnswerMismatch?

    init(
        _ outcome: TurnOutcome, _ plan: TurnPlan, in conversation: ConversationID?, start: ChatStart,
        rules: [ApprovalRule], duration: Duration
    ) {
        self.rules = rules
        self.outcome = outcome
        self.start = start
        self.conversation = conversation
        model = start.model ?? plan.choice.model
        provider = plan.choice.provider.id
        text = (outcome.answer?.message ?? outcome.messages.last?.message)?.blocks ?? ""
        mismatch =
            if case .answered = outcome.end { plan.schema.flatMap { [text] in AnswerMismatch(text, $0) } } else { nil }
        // A turn has no use for less than a millisecond.
        self.duration = .milliseconds((duration / .milliseconds(1)).rounded())
    }

    var exit: ExitCode { mismatch != nil && outcome.exit == .done ? .failed : outcome.exit }

    /// What ended the turn, when that was a failure.
    var failure: AnyFailure? {
        switch outcome.end {
        case .failed(let failure): failure
        case .roundLimit: AnyFailure(RoundLimitReached(rounds: outcome.rounds))
        case .answered, .stopped: nil
        }
    }

    static let fields: [Field<TurnReport>] = [
        Field("result", "The answer's text", .name) { $0.text },
        Field("session_id", "The conversation, where it is stored") { $0.conversation },
        Field("model", "Who answered") { $0.model },
        Field("provider", "Where the model is") { $0.provider },
        Field("finish", "Why the model stopped") { $0.outcome.answer?.finish.word },
        Field("num_turns", "How often the model was asked") { $0.outcome.rounds },
        Field("duration_ms", "How long it took") { Int($0.duration / .milliseconds(1)) },
        Field("usage", "What it took", .detail) { $0.outcome.usage },
        Field("total_cost_usd", "What it cost in US dollars, where that is known") { $0.outcome.usage.cost },
        Field("failed_tools", "How many tools failed") { $0.outcome.failedCalls },
    ]
}

/// A model that never stops calling tools.
private struct RoundLimitReached: Failure {
    let rounds: Int
    var code: String { "chat.round-limit" }
    var message: String {
        "the model wanted more tools after \(rounds) rounds, so the turn was ended; raise chat.max-rounds to let it go on"
    }
}

/// What a person is told when a turn has ended.
extension TurnReport {
    /// Why the answer is not all that the model might have said; nil where it is.
    var shortfall: String? {
        switch outcome.end {
        case .stopped: return "the answer was stopped"
        case .failed, .roundLimit: return nil
        case .answered: break
        }
        switch outcome.answer?.finish {
        case .length: return "the answer was cut at its limit of tokens; ask for the rest, or raise --max-tokens"
        case .refused: return "the answer was held back by the model or its provider; ask in another way"
        case .other(let word): return "the answer ended early: \(PlainText.escape(word))"
        case .stop, .calls, nil: return nil
        }
    }

    var isStopped: Bool { if case .stopped = outcome.end { true } else { false } }

    /// Time, tokens and cost, as far as they are known: `3.2s · 1.2k in · 340 out · $0.0041`.
    var footer: String {
        // Tenths of a second are enough for a person.
        let time = duration.milliseconds
        let usage = outcome.usage
        var words = [time < 1000 ? "\(time)ms" : Duration.milliseconds(time / 100 * 100).words]
        if let tokens = usage.inputTokens { words.append("\(Self.count(tokens)) in") }
        if let tokens = usage.outputTokens { words.append("\(Self.count(tokens)) out") }
        if let tokens = usage.reasoningTokens, tokens > 0 { words.append("\(Self.count(tokens)) of them thoughts") }
        if let cost = usage.cost, cost.nanodollars > 0 { words.append(cost.words) }
        return words.joined(separator: " · ")
    }

    /// `950`, `1.2k`, `34k`, `1.2M`.
    static func count(_ number: Int) -> String {
        for (unit, size) in [("M", 1_000_000), ("k", 1000)] where number >= size {
            let tenths = number / (size / 10)
            return tenths < 100 && tenths % 10 != 0 ? "\(tenths / 10).\(tenths % 10)\(unit)" : "\(tenths / 10)\(unit)"
        }
        return "\(number)"
    }
}
