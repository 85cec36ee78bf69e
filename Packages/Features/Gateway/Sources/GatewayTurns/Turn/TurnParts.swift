import Capabilities
import GatewayStore

/// What all turns of a gateway share. An object, so that each of them holds a reference and not all of it.
final class TurnParts: Sendable {
    let store: GatewayStore
    let settings: TurnSettings
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    let tracer: Tracer
    let running: RunningTurns
    private let keeping: (any Sendable)?
    /// For turns that take too long.
    let alarms: Alarms

    init(
        store: GatewayStore, settings: TurnSettings, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp, tracer: Tracer, running: RunningTurns, keeping: (any Sendable)?
    ) {
        self.store = store
        self.settings = settings
        self.clock = clock
        self.now = now
        self.tracer = tracer
        self.running = running
        self.keeping = keeping
        alarms = Alarms(after: settings.turnTime, on: clock)
    }

    var approvals: Approvals { running.approvals }
    var toolRuns: ToolRuns { running.toolRuns }

    /// Whether something may be used up for a request that belongs to no session.
    func isLimited(_ client: TurnClient?) -> Bool { !settings.dayBudget.isEmpty || client?.budgeted != nil }

    /// Throws when tokens or money of a session, a project, the client's token or the day are used up, with what is not
    /// stored yet.
    func checkBudget(
        session: String?, project: String?, client: TurnClient?, unstored: Usage = Usage()
    ) async throws {
        if session == nil, project == nil, !isLimited(client) { return }
        let state = try await store.checkBudget(
            session: session, project: project, client: client?.budgeted, day: settings.dayBudget, unstored: unstored)
        guard let spent = state.spent else { return }
        throw GatewayError(
            .budgetExceeded, spent.message, retryAfter: spent.scope.isDaily ? Day.rest(after: now()) : nil)
    }
}
