import Capabilities
import TurnLoop

/// Decides by the rules, and asks where they say so.
struct PolicyApprover: Sendable {
    let policy: ApprovalPolicy
    /// Nil where nobody can be asked.
    let ask: TurnLoop.Approve?

    func approve(_ request: ApprovalRequest) async throws -> ApprovalAnswer {
        switch policy.verdict(for: request).verdict {
        case .allow: return ApprovalAnswer(isAllowed: true)
        case .deny: return ApprovalAnswer(isAllowed: false, reason: "a rule of the person denies this call")
        case .ask: break
        }
        guard let ask else {
            throw InteractionError.unanswered(id: "gateway.approval", prompt: "allow \(PlainText.escape(request.tool))")
        }
        return try await ask(request)
    }
}
