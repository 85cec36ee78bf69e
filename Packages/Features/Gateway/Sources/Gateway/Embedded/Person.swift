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
        context.notice("The model wants to use \(name):\n\(ticket.reach.preview(of: ticket.call))")
        var scopes: [(words: String, scope: ApprovalScope)] = [("Yes, this once", .once)]
        if let remembered = ticket.remembers {
            let what = remembered == ticket.call.name ? "" : ", '\(PlainText.escape(remembered))'"
            scopes += [
                ("Yes\(what), in this conversation", .conversation), ("Yes\(what), always in this folder", .project),
            ]
        }
        do {
            let index = try await context.interaction.choice(
                "chat.approve", "Allow \(name) (\(ticket.effect.rawValue))?",
                among: scopes.map(\.words) + ["No", "No, and say why"])
            if scopes.indices.contains(index) { return ApprovalAnswer(isAllowed: true, scope: scopes[index].scope) }
            guard index > scopes.count else { return ApprovalAnswer(isAllowed: false) }
            let reason = try await context.interaction.text("chat.approve.reason", "What shall be done instead?")
            return ApprovalAnswer(isAllowed: false, reason: reason)
        } catch InteractionError.unanswered {
            return ApprovalAnswer(isAllowed: false, reason: "nobody was there to allow it")
        }
    }
}
