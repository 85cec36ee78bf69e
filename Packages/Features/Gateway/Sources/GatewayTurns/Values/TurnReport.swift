public import Capabilities
public import TurnLoop

/// What came of a turn or a completion. An object, since it is handed through several tasks.
public final class TurnReport: Sendable {
    public let place: TurnPlace
    public let outcome: TurnOutcome

    init(_ place: TurnPlace, _ outcome: TurnOutcome) {
        self.place = place
        self.outcome = outcome
    }

    /// Everything that the model said, its answers between calls included.
    public var text: String {
        outcome.messages.map(\.message).filter { $0.role == .assistant }.flatMap(\.paragraphs)
            .joined(separator: "\n\n")
    }

    /// What ended the turn before the model had its say; nil also for one that somebody stopped.
    public var failure: AnyFailure? {
        switch outcome.end {
        case .failed(let failure): failure
        case .roundLimit:
            AnyFailure(
                GatewayError(
                    .roundLimit,
                    "the model wanted more tools after \(outcome.rounds) rounds, so the turn was ended; "
                        + "say 'go on' to let it continue"))
        case .answered, .stopped: nil
        }
    }
}

extension Message {
    /// Its text, where what was said after a call is a paragraph of its own: a model that runs its tools itself says all
    /// of its turn in one message.
    fileprivate var paragraphs: [String] {
        var all = [""]
        for part in parts {
            switch part {
            case .text(let text): all[all.count - 1] += text
            case .call, .malformedCall, .result: if all.last?.isEmpty == false { all.append("") }
            case .reasoning, .refusal, .attachment: break
            }
        }
        return all.filter { !$0.isEmpty }
    }
}
