import Capabilities
import TurnLoop

extension ApprovalPolicy {
    /// The decision of the user's grant with these rules.
    func decision(_ request: ApprovalRequest) -> ApprovalVerdict {
        switch Grant.person.decide(.tool(request.use(in: mode, ruling: ruling(for: request)?.verdict))) {
        case .allow: .allow
        case .ask: .ask
        case .deny: .deny
        }
    }
}
