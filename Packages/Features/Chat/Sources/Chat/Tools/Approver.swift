import Capabilities
import JSON
import Registry
import TurnLoop

/// Asks the user about a call that no rule decides.
struct Approver: Sendable {
    let context: ActionContext
    /// Whether a server runs the call. It then stores the rule itself, and does not have the user's settings.
    var isServer = false

    func approve(_ request: ApprovalRequest) async throws -> ApprovalAnswer {
        // The user has approved the bundle that allows this call. Our own calls are checked earlier.
        if isServer, context.caller.grant.decide(.tool(request.use(in: nil, ruling: nil))).isAllowed {
            return ApprovalAnswer(isAllowed: true)
        }
        var lasting: [(ApprovalScope, String)] = [
            (.conversation, "in this conversation"), (.project, "in this project"),
        ]
        if !isServer { lasting.append((.always, "always")) }
        // A server derives its own rules from the answer.
        let prompt = ApprovalPrompt(
            request.call, of: request.tool, from: request.source, request.effect, reach: request.reach,
            hints: request.hints, remembering: isServer ? request.tool : request.remembers, lasting)
        context.notice(prompt.notice)
        return try await prompt.answer(from: context.interaction)
    }
}
