public import Capabilities
import Synchronization

/// The turns that run. It owns their tasks: whoever closes it has awaited them all.
final class TurnTable: Sendable {
    private struct State {
        var turns: [Int: RunningTurn] = [:]
        var next = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Starts the work as a task of this table. It is in the table before it begins and leaves it when it ends.
    func start(
        session: String?, client: TurnClient?, _ control: TurnControl,
        _ work: @escaping @Sendable () async -> Result<TurnReport, any Error>
    ) throws(GatewayError) -> RunningTurn {
        let started = state.withLock { state -> RunningTurn? in
            guard !state.isClosed else { return nil }
            state.next += 1
            let id = state.next
            let task = Task {
                let result = await work()
                self.state.withLock { $0.turns[id] = nil }
                control.feed.finish()
                return result
            }
            control.adopt(task)
            let turn = RunningTurn(session: session, client: client, control: control, task: task)
            state.turns[id] = turn
            return turn
        }
        guard let started else {
            throw GatewayError(.closing, "the gateway is shutting down and takes no more requests; ask again later")
        }
        return started
    }

    var count: Int { state.withLock { $0.turns.count } }
    var sessionCount: Int { state.withLock { $0.turns.values.count { $0.session != nil } } }
    var sessions: [String] { state.withLock { $0.turns.values.compactMap(\.session).sorted() } }

    func turn(of session: String) -> RunningTurn? {
        state.withLock { state in state.turns.values.first { $0.session == session } }
    }

    /// Those with a token of their own for whom something runs.
    var clients: Set<TurnClient> {
        state.withLock { Set($0.turns.values.compactMap(\.client).filter { $0.credential != nil }) }
    }

    /// What runs for a client.
    func turns(of client: TurnClient) -> [RunningTurn] {
        state.withLock { $0.turns.values.filter { $0.client == client } }
    }

    /// Ends all turns and lets no more begin. Safe twice.
    func close() async {
        let turns = state.withLock { state in
            state.isClosed = true
            return Array(state.turns.values)
        }
        for turn in turns { turn.control.stop(.closing) }
        for turn in turns { _ = await turn.task.value }
    }
}

/// A turn that runs, as it is seen from outside.
struct RunningTurn: Sendable {
    let session: String?
    let client: TurnClient?
    let control: TurnControl
    let task: Task<Result<TurnReport, any Error>, Never>
}

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

    /// Those with a token of their own for whom something runs.
    public var clients: Set<TurnClient> { table.clients }

    /// Ends what runs for a client whose token does not count any more, with its commands and its open questions. What was
    /// said until then is kept. It does not wait for the end.
    public func end(_ client: TurnClient) {
        for turn in table.turns(of: client) { turn.control.stop(.tokenEnded) }
    }
}
