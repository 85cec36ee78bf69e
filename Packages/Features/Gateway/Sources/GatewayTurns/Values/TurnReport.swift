public import Capabilities
public import TurnLoop

/// The result of a turn or a completion. It is a class, because it passes through several tasks.
public final class TurnReport: Sendable {
    /// The session, the project and the model of the turn.
    public let place: TurnPlace
    /// The messages, the usage and the end of the turn.
    public let outcome: TurnOutcome

    init(_ place: TurnPlace, _ outcome: TurnOutcome) {
        self.place = place
        self.outcome = outcome
    }

    /// Everything that the model said, including its text between calls.
    public var text: String {
        outcome.messages.map(\.message).filter { $0.role == .assistant }.flatMap(\.paragraphs)
            .joined(separator: "\n\n")
    }

    /// Why the turn failed; nil if it finished or was stopped.
    public var failure: AnyFailure? {
        switch outcome.end {
        case .failed(let failure): failure
        case .roundLimit:
            AnyFailure(
                GatewayError(
                    .roundLimit,
                    "the turn reached its limit of \(outcome.rounds) rounds and was ended; "
                        + "send 'go on' to continue"))
        case .answered, .stopped: nil
        }
    }
}

extension Message {
    /// Its text, with a new paragraph after each call: a model that runs its tools itself puts a whole turn in one
    /// message.
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
