import Capabilities
import GatewayStore
import TurnLoop

/// Everything that an agent turn is run with.
struct AgentPlan: Sendable {
    let session: Session
    let project: Project?
    let lease: TurnLease
    let choice: ModelChoice
    /// Options and schema as the client sent them; messages are the system's alone.
    let chat: ChatRequest
    /// What is new to the session.
    let messages: [Message]
    let selection: ToolSelection
    let sources: [any ToolSource]
    let policy: ApprovalPolicy
    /// What the client is told first.
    let notices: [String]
    let canAsk: Bool
    let client: TurnClient?

    var place: TurnPlace {
        TurnPlace(
            session: session.id, project: project?.id, provider: choice.description.provider,
            model: choice.description.id)
    }
}
