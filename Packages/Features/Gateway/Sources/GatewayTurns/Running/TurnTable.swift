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

/// What a turn is told from outside, and the way of what it tells.
final class TurnControl: Sendable {
    /// Why a turn was ended from outside.
    enum Reason: String, Sendable {
        case asked = "stopped"
        case vanished
        case timeLimit = "time-limit"
        /// The token with which it was asked for does not count any more.
        case tokenEnded = "token-ended"
        case closing
    }

    private struct State {
        var reason: Reason?
        var task: Task<Result<TurnReport, any Error>, Never>?
    }

    let feed = Feed()
    private let state = Mutex(State())

    /// The first reason counts.
    var reason: Reason? { state.withLock { $0.reason } }

    /// Takes the task that is ended by `stop`.
    func adopt(_ task: Task<Result<TurnReport, any Error>, Never>) {
        let isStopped = state.withLock { state in
            state.task = task
            return state.reason != nil
        }
        if isStopped { task.cancel() }
    }

    /// Ends the turn at once. What was said until then is kept.
    func stop(_ reason: Reason) {
        let task = state.withLock { state in
            state.reason = state.reason ?? reason
            return state.task
        }
        feed.hurry()
        task?.cancel()
    }
}

/// A turn or a completion that has been accepted and runs, with what it tells.
///
/// Whoever holds it is the client: it ends as `leave` says when the last reference goes without its end.
public final class OpenTurn: Sendable {
    public let place: TurnPlace
    /// What of the request the model was not given, as its server has no words for it.
    public let dropped: [String]
    let turn: RunningTurn
    private let keepsRunning: Bool

    init(_ turn: RunningTurn, place: TurnPlace, dropped: [String] = [], keepsRunning: Bool) {
        self.dropped = dropped
        self.turn = turn
        self.place = place
        self.keepsRunning = keepsRunning
    }

    /// What has happened since the last time, for one reader; while nobody reads, the turn gets only a little ahead. Nil
    /// after the last event, and when the reading task is cancelled.
    public func next() async -> [GatewayEvent]? { await turn.control.feed.next() }

    /// Waits until `next` would give something at once. False when it would not: the waiting task was cancelled, or
    /// somebody called `nudge`.
    @discardableResult
    public func ready() async -> Bool { await turn.control.feed.ready() }

    /// Lets the one who waits in `ready`, or the next who does, go on without anything to read.
    public func nudge() { turn.control.feed.nudge() }

    /// Hands everything from here on to `take`, in order, and returns after the last event, or when the reading task is
    /// cancelled.
    ///
    /// `take` is called where an event comes into being, in any task and under a lock, so that a reader need not wake for
    /// each: it must not wait. Where it gives false, `room` is called and the turn gets only a little ahead until that
    /// returns. What either throws is thrown here.
    public func forward(
        to take: @escaping @Sendable ([GatewayEvent]) throws -> Bool, room: () async throws -> Void = {}
    ) async throws {
        try await turn.control.feed.forward(to: take, room: room)
    }

    /// What came of it, when it has ended. A reader has to have read to the end, or the turn may wait for it.
    public func report() async throws -> TurnReport { try await turn.task.value.get() }

    /// The client has vanished: the turn is ended, and this returns when it is stored; or it goes on without a reader, where
    /// the input or the settings say so.
    public func leave() async {
        abandon()
        if !keepsRunning { _ = await turn.task.value }
    }

    private func abandon() {
        turn.control.feed.abandon()
        if !keepsRunning { turn.control.stop(.vanished) }
    }

    deinit { abandon() }
}
