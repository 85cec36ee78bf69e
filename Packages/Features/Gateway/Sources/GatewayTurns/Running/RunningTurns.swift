public import Capabilities

/// Everything that runs in a gateway and waits for an answer, whichever settings it began with.
public final class RunningTurns: Sendable {
    let table = TurnTable()
    let approvals: Approvals
    let toolRuns = ToolRuns()

    public init(clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp) {
        approvals = Approvals(clock: clock, now: now)
    }

    /// How many turns and completions run.
    public var count: Int { table.count }
}
