import Capabilities
import TurnLoop

extension ApprovalPolicy {
    /// What the person's grant says by these rules.
    func decision(_ request: ApprovalRequest) -> ApprovalVerdict {
        switch Grant.person.decide(.tool(request.use(in: mode, ruling: ruling(for: request)?.verdict))) {
        case .allow: .allow
        case .ask: .ask
        case .deny: .deny
        }
    }
}
