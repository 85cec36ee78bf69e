import Capabilities
import ChatProviders
import TurnLoop

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
