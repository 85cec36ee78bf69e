import Capabilities
import GatewayTurns
import JSON
import Registry
import TurnLoop

/// Whoever is there while the embedded gateway works, if anybody is.
struct Person: Sendable {
    private let context: ActionContext?

    init(_ context: ActionContext?) {
        self.context = context
    }

    var canAsk: Bool { context?.interaction.canAsk ?? false }
    var tracer: Tracer? { context?.tracer }

    /// Tells something that is no part of the answer.
    func tell(_ text: String) { context?.notice(text) }

    /// Asks about a call that no rule decides, in the words in which Chat asks.
    func decide(_ ticket: ApprovalTicket) async throws -> ApprovalAnswer {
        guard let context else { return ApprovalAnswer(isAllowed: false) }
        let name = PlainText.escape(ticket.call.name)
        context.notice("The model wants to use \(name):\n\(ticket.call.preview)")
        let options = [
            "Yes, this once", "Yes, in this conversation", "Yes, always in this folder", "No", "No, and say why",
        ]
        do {
            let index = try await context.interaction.choice(
                "chat.approve", "Allow \(name) (\(ticket.effect.rawValue))?", among: options)
            switch index {
            case 0: return ApprovalAnswer(isAllowed: true)
            case 1: return ApprovalAnswer(isAllowed: true, scope: .conversation)
            case 2: return ApprovalAnswer(isAllowed: true, scope: .project)
            case 3: return ApprovalAnswer(isAllowed: false)
            default:
                let reason = try await context.interaction.text("chat.approve.reason", "What shall be done instead?")
                return ApprovalAnswer(isAllowed: false, reason: reason)
            }
        } catch InteractionError.unanswered {
            return ApprovalAnswer(isAllowed: false, reason: "nobody was there to allow it")
        }
    }
}
