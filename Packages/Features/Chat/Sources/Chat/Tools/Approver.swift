import Capabilities
import JSON
import Registry
import TurnLoop

/// Asks the person about a call that no rule decides.
struct Approver: Sendable {
    let context: ActionContext
    /// Whether a server does the call: it keeps what is remembered, and has no settings of the person.
    var isServer = false

    func approve(_ request: ApprovalRequest) async throws -> ApprovalAnswer {
        // The person has agreed to the bundle that says so; a call of our own is looked at before it comes here.
        if isServer, context.caller.grant.decide(.tool(request.use(in: nil, ruling: nil))).isAllowed {
            return ApprovalAnswer(isAllowed: true)
        }
        let name = PlainText.escape(request.tool)
        context.notice("The model wants to use \(name):\n\(request.reach.preview(of: request.call))")
        var lasting: [(ApprovalScope, String)] = [
            (.conversation, "in this conversation"), (.project, "in this project"),
        ]
        if !isServer { lasting.append((.always, "always")) }
        // A server makes rules of its own of it.
        let choices = ApprovalChoices(
            of: request.tool, remembering: isServer ? request.tool : request.remembers, lasting)
        let index = try await context.interaction.choice(
            "chat.approve", "Allow \(name) (\(request.effect.rawValue)) of \(PlainText.escape(request.source))?",
            among: choices.words)
        return try await choices.answer(index) {
            try await context.interaction.text("chat.approve.reason", "What shall the model do instead?")
        }
    }
}
