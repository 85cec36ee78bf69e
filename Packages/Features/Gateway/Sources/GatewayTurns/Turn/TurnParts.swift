import Capabilities
import GatewayStore

/// What all turns of a gateway share.
struct TurnParts: Sendable {
    let store: GatewayStore
    let settings: TurnSettings
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    let tracer: Tracer
    let approvals: Approvals
    let toolRuns = ToolRuns()

    /// Throws when tokens or money of a session, a project or the day are used up.
    func checkBudget(session: String?, project: String?) async throws {
        if session == nil, project == nil, settings.dayBudget == BudgetLimit() { return }
        let state = try await store.checkBudget(session: session, project: project, day: settings.dayBudget)
        if let spent = state.spent { throw GatewayError(.budgetExceeded, spent.message) }
    }
}
