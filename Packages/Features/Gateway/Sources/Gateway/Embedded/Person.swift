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

    /// Whether there is an action on whose behalf it works. Answers to its questions may be given beforehand.
    var isKnown: Bool { context != nil }
    var tracer: Tracer? { context?.tracer }

    /// Tells something that is no part of the answer.
    func tell(_ text: String) { context?.notice(text) }

    /// Asks about a call that no rule decides, in the words in which Chat asks.
    func decide(_ ticket: ApprovalTicket) async throws -> ApprovalAnswer {
        guard let context else { return ApprovalAnswer(isAllowed: false) }
        let name = PlainText.escape(ticket.call.name)
        context.notice("The model wants to use \(name):\n\(ticket.reach.preview(of: ticket.call))")
        let choices = ApprovalChoices(
            of: ticket.call.name, remembering: ticket.remembers,
            [(.conversation, "in this conversation"), (.project, "always in this folder")])
        let index = try await context.interaction.choice(
            "chat.approve", "Allow \(name) (\(ticket.effect.rawValue))?", among: choices.words)
        return try await choices.answer(index) {
            try await context.interaction.text("chat.approve.reason", "What shall be done instead?")
        }
    }
}
