import Capabilities
import ChatHistory
import ChatProviders
import JSON
import TurnLoop

/// The result of a turn: the last line of its events, and the output in machine formats.
struct TurnReport: Record {
    let outcome: TurnOutcome
    let conversation: ConversationID?
    let model: String
    let provider: String
    let text: String
    let duration: Duration
    let start: ChatStart
    /// The rules of the user so far.
    let rules: [ApprovalRule]
    /// Why the answer does not match its schema.
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
            if case .answered = outcome.end {
                plan.request.schema.flatMap { [text] in AnswerMismatch(text, $0) }
            } else {
                nil
            }
        // Less than a millisecond does not matter for a turn.
        self.duration = .milliseconds((duration / .milliseconds(1)).rounded())
    }

    var exit: ExitCode { mismatch != nil && outcome.exit == .done ? .failed : outcome.exit }

    /// The failure that ended the turn.
    var failure: AnyFailure? {
        switch outcome.end {
        case .failed(let failure): failure
        case .roundLimit: AnyFailure(RoundLimitReached(rounds: outcome.rounds))
        case .answered, .stopped: nil
        }
    }

    static let fields: [Field<TurnReport>] = [
        Field("result", "The answer's text", .name) { $0.text },
        Field("session_id", "Id of the conversation, if it is stored") { $0.conversation },
        Field("model", "The model that answered") { $0.model },
        Field("provider", "The provider of the model") { $0.provider },
        Field("finish", "Why the model stopped") { $0.outcome.answer?.finish.shownWord },
        Field("num_turns", "Number of requests to the model") { $0.outcome.rounds },
        Field("duration_ms", "Duration in milliseconds") { Int($0.duration / .milliseconds(1)) },
        Field("usage", "Tokens and cost", .detail) { $0.outcome.usage },
        Field("total_cost_usd", "Cost in US dollars, if known") { $0.outcome.usage.cost },
        Field("failed_tools", "Number of failed tool calls") { $0.outcome.failedCalls },
    ]
}

/// A model that never stops calling tools.
private struct RoundLimitReached: Failure {
    let rounds: Int
    var code: String { "chat.round-limit" }
    var message: String {
        "the model requested more tools after \(rounds) rounds, so the turn was ended; raise chat.max-rounds to allow more"
    }
}

/// The texts for the user at the end of a turn.
extension TurnReport {
    /// Why the answer is incomplete; nil if it is complete.
    var shortfall: String? {
        switch outcome.end {
        case .stopped: return "the answer was stopped"
        case .failed, .roundLimit: return nil
        case .answered: break
        }
        switch outcome.answer?.finish {
        case .length: return "the answer was cut off at its token limit; ask for the rest, or raise --max-tokens"
        case .refused: return "the answer was withheld by the model or its provider; rephrase the question"
        case .other(let word): return "the answer ended early: \(PlainText.escape(word))"
        case .stop, .calls, nil: return nil
        }
    }

    var isStopped: Bool { if case .stopped = outcome.end { true } else { false } }

    /// Time, tokens and cost, as far as they are known: `3.2s · 1.2k in · 340 out · $0.0041`.
    var footer: String {
        // Tenths of a second are precise enough.
        let time = duration.milliseconds
        let usage = outcome.usage
        var words = [time < 1000 ? "\(time)ms" : Duration.milliseconds(time / 100 * 100).words]
        if let tokens = usage.inputTokens { words.append("\(Self.count(tokens)) in") }
        if let tokens = usage.outputTokens { words.append("\(Self.count(tokens)) out") }
        if let tokens = usage.reasoningTokens, tokens > 0 { words.append("\(Self.count(tokens)) of them reasoning") }
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
