public import Capabilities
import Synchronization

/// The running turns. It owns their tasks, and `close` waits for all of them.
final class TurnTable: Sendable {
    private struct State {
        var turns: [Int: RunningTurn] = [:]
        var next = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Starts the work as a task of this table. The turn is in the table before it starts and leaves it when it ends.
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
            throw GatewayError(.closing, "the gateway is shutting down and accepts no more requests; retry later")
        }
        return started
    }

    var count: Int { state.withLock { $0.turns.count } }
    var sessionCount: Int { state.withLock { $0.turns.values.count { $0.session != nil } } }
    var sessions: [String] { state.withLock { $0.turns.values.compactMap(\.session).sorted() } }

    func turn(of session: String) -> RunningTurn? {
        state.withLock { state in state.turns.values.first { $0.session == session } }
    }

    /// The clients with their own token that have running turns.
    var clients: Set<TurnClient> {
        state.withLock { Set($0.turns.values.compactMap(\.client).filter { $0.credential != nil }) }
    }

    /// The running turns of a client.
    func turns(of client: TurnClient) -> [RunningTurn] {
        state.withLock { $0.turns.values.filter { $0.client == client } }
    }

    /// Ends all turns and refuses new ones. It may be called twice.
    func close() async {
        let turns = state.withLock { state in
            state.isClosed = true
            return Array(state.turns.values)
        }
        for turn in turns { turn.control.stop(.closing) }
        for turn in turns { _ = await turn.task.value }
    }
}

/// A running turn, seen from outside.
struct RunningTurn: Sendable {
    let session: String?
    let client: TurnClient?
    let control: TurnControl
    let task: Task<Result<TurnReport, any Error>, Never>
}

/// All running turns and open approval requests of a gateway, whatever settings they started with.
public final class RunningTurns: Sendable {
    let table = TurnTable()
    let approvals: Approvals
    let toolRuns = ToolRuns()

    /// - Parameters:
    ///   - clock: measures how long an approval request waits.
    ///   - now: the current time, from which an approval request's expiry is computed.
    public init(clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp) {
        approvals = Approvals(clock: clock, now: now)
    }

    /// The number of running turns and completions.
    public var count: Int { table.count }

    /// The clients with their own token that have running turns.
    public var clients: Set<TurnClient> { table.clients }

    /// Ends the turns of a client whose token is no longer valid, with their commands and open approval requests. What
    /// was said so far is kept. It does not wait for the end.
    public func end(_ client: TurnClient) {
        for turn in table.turns(of: client) { turn.control.stop(.tokenEnded) }
    }
}

/// Controls a turn from outside, and carries its events.
final class TurnControl: Sendable {
    /// Why a turn was ended from outside.
    enum Reason: String, Sendable {
        case asked = "stopped"
        case vanished
        case timeLimit = "time-limit"
        /// The client's token is no longer valid.
        case tokenEnded = "token-ended"
        case closing
    }

    private struct State {
        var reason: Reason?
        var task: Task<Result<TurnReport, any Error>, Never>?
    }

    /// The turn waits for its reader at this number of unread events.
    let feed = Channel<GatewayEvent>(limit: 64)
    private let state = Mutex(State())

    /// Why the turn was stopped. Only the first reason counts.
    var reason: Reason? { state.withLock { $0.reason } }

    /// Sets the task that `stop` cancels.
    func adopt(_ task: Task<Result<TurnReport, any Error>, Never>) {
        let isStopped = state.withLock { state in
            state.task = task
            return state.reason != nil
        }
        if isStopped { task.cancel() }
    }

    /// Ends the turn at once. What was said so far is kept.
    func stop(_ reason: Reason) {
        let task = state.withLock { state in
            state.reason = state.reason ?? reason
            return state.task
        }
        feed.hurry()
        task?.cancel()
    }
}

/// A turn or a completion that has been accepted and runs, with its events.
///
/// Its holder is the client: dropping the last reference before the end has the same effect as `leave`.
public final class OpenTurn: Sendable {
    /// The session, the project and the model, as far as they are known at the start.
    public let place: TurnPlace
    /// The members of the request that were not passed on, because the model's server does not support them.
    public let dropped: [String]
    let turn: RunningTurn
    private let keepsRunning: Bool

    init(_ turn: RunningTurn, place: TurnPlace, dropped: [String] = [], keepsRunning: Bool) {
        self.dropped = dropped
        self.turn = turn
        self.place = place
        self.keepsRunning = keepsRunning
    }

    /// The events since the last call, for one reader. While nothing is read, the turn can get only a little ahead. Nil
    /// after the last event, and when the reading task is cancelled.
    public func next() async -> [GatewayEvent]? { await turn.control.feed.next() }

    /// Waits until `next` would return at once. Returns false if the waiting task was cancelled or `nudge` was called
    /// first.
    @discardableResult
    public func ready() async -> Bool { await turn.control.feed.ready() }

    /// Ends the current or the next wait in `ready`, even without events.
    public func nudge() { turn.control.feed.nudge() }

    /// Passes all further events to `take`, in order, and returns after the last event, or when the reading task is
    /// cancelled.
    ///
    /// `take` is called in the sending task and under a lock, so that the reader need not wake for each event. It must
    /// not wait. When it returns false, `room` is called, and the turn can get only a little ahead until `room`
    /// returns. Errors of both are thrown here.
    public func forward(
        to take: @escaping @Sendable ([GatewayEvent]) throws -> Bool, room: () async throws -> Void = {}
    ) async throws {
        try await turn.control.feed.forward(to: take, room: room)
    }

    /// The result, when the turn has ended. Read all events first, or the turn may wait for the reader.
    public func report() async throws -> TurnReport { try await turn.task.value.get() }

    /// Tells that the client disconnected. Either the turn is ended, and this returns when it is stored, or it
    /// continues without a reader, as the input or the settings say.
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
