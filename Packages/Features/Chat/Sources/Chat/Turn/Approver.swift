import Capabilities
import JSON
import Registry
import TurnLoop

/// Asks the person about a call that no rule decides.
struct Approver: Sendable {
    let context: ActionContext

    func approve(_ request: ApprovalRequest) async throws -> ApprovalAnswer {
        let name = PlainText.escape(request.tool)
        context.notice("The model wants to use \(name): \(PlainText.escapeLines(request.call.input.text(.pretty)))")
        let options = [
            "Yes, this once", "Yes, in this conversation", "Yes, in this project", "Yes, always", "No",
            "No, and say why",
        ]
        let index = try await context.interaction.choice(
            "chat.approve", "Allow \(name) (\(request.effect.rawValue)) of \(PlainText.escape(request.source))?",
            among: options)
        switch index {
        case 0: return ApprovalAnswer(isAllowed: true)
        case 1: return ApprovalAnswer(isAllowed: true, scope: .conversation)
        case 2: return ApprovalAnswer(isAllowed: true, scope: .project)
        case 3: return ApprovalAnswer(isAllowed: true, scope: .always)
        case 4: return ApprovalAnswer(isAllowed: false)
        default:
            let reason = try await context.interaction.text("chat.approve.reason", "What shall the model do instead?")
            return ApprovalAnswer(isAllowed: false, reason: reason)
        }
    }
}
