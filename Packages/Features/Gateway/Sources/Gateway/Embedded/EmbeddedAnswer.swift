import Capabilities
import GatewayTurns
import TurnLoop

/// Puts a turn's events together to the one answer that a provider gives.
struct EmbeddedAnswer {
    private var start = ChatStart()
    private var message = Message(.assistant, [])

    /// What a reader is told of an event; nil for what only a gateway's own clients know.
    mutating func take(_ event: GatewayEvent) -> ChatEvent? {
        switch event {
        case .began(let place):
            start = ChatStart(model: place.model, session: place.session, project: place.project)
            return .began(start)
        case .answers(let place):
            start.model = place.model
            return nil
        case .chat(.began), .approval, .output: return nil
        case .chat(let event):
            add(event)
            return event
        case .notice(let text): return .notice(text)
        }
    }

    func answer(_ report: TurnReport) -> ChatAnswer {
        var answer = ChatAnswer(
            start: start, message: message, finish: report.outcome.answer?.finish ?? .stop,
            usage: report.outcome.usage)
        answer.isUnapproved = report.outcome.isUnapproved
        answer.hasUnfitApproval = report.outcome.hasUnfitApproval
        return answer
    }

    private mutating func add(_ event: ChatEvent) {
        switch event {
        case .text(let more):
            // The last part is taken out before it grows: a second reference would make each piece copy it all.
            guard case .text(var text)? = message.parts.last else { return message.parts.append(.text(more)) }
            message.parts.removeLast()
            text += more
            message.parts.append(.text(text))
        case .call(let call): message.parts.append(.call(call))
        case .malformedCall(let call): message.parts.append(.malformedCall(call))
        case .result(let result): message.parts.append(.result(result))
        case .refusal(let text): message.parts.append(.refusal(text))
        case .began, .reasoning, .thought, .calling, .usage, .notice: break
        }
    }
}
