/// Decides when a connection is made, tested, dropped and remade. It has no clock and no connection: callers pass in
/// times and carry out the returned actions.
public struct ConnectionMachine<Instant: InstantProtocol>: Sendable where Instant.Duration == Duration {
    /// The state that callers observe.
    public typealias State = ConnectionState<Instant>

    /// An event for the machine.
    public enum Event: Sendable, Hashable {
        /// The connection is wanted.
        case start
        /// The attempt succeeded.
        case connected
        /// The attempt failed, or the connection was lost.
        case failed
        /// The attempt was refused, and every further attempt would be.
        case refused
        /// The server sent something; every message is a sign of life.
        case received
        /// The network changed or the machine slept, so existing connections are dead.
        case networkChanged
        /// Time has passed; `nextTick` is the time of the next tick.
        case tick
        /// The connection is no longer wanted.
        case stop
    }

    /// What the caller must do, in this order.
    public enum Action: Sendable, Hashable {
        /// Drop the current connection or attempt.
        case drop
        /// Make a new connection, and report `.connected`, `.failed` or `.refused`.
        case connect
        /// Send a ping.
        case ping
        /// Tell observers the new state.
        case changed(State)
    }

    /// The state after the last event. Each change is also a `.changed` action.
    public private(set) var state = State.disconnected
    private let policy: ConnectionPolicy
    /// Consecutive failures. A connection on which nothing ever arrived does not reset the count.
    private var failures = 0
    private var lastSign: Instant?
    private var lastPing: Instant?
    /// Until when further network changes are collected, and whether there was one.
    private var settled: Instant?
    private var hasChangedAgain = false

    /// A machine that is disconnected until `.start`.
    public init(policy: ConnectionPolicy = ConnectionPolicy()) {
        self.policy = policy
    }

    /// When the next tick is due; nil when the machine waits only for events.
    public var nextTick: Instant? {
        let gathered = hasChangedAgain ? settled : nil
        switch state {
        case .disconnected: return nil
        case .connecting: return gathered
        case .reconnecting(_, let time): return time
        case .connected:
            guard let lastSign, let lastPing else { return gathered }
            let due = min(lastSign.advanced(by: policy.silence), lastPing.advanced(by: policy.ping))
            return gathered.map { min($0, due) } ?? due
        }
    }

    /// Takes an event that happened at `now`.
    public mutating func handle(_ event: Event, at now: Instant) -> [Action] {
        if event == .tick, hasChangedAgain, let settled, settled <= now {
            hasChangedAgain = false
            if state == .connecting || state == .connected { return renew(at: now) }
        }
        switch (event, state) {
        case (.start, .disconnected):
            failures = 0
            return connect()
        case (.connected, .connecting):
            (lastSign, lastPing) = (now, now)
            return change(to: .connected)
        case (.failed, .connecting): return retry(at: now)
        case (.refused, .connecting): return change(to: .disconnected)
        case (.failed, .connected): return retry(at: now)
        case (.received, .connected):
            // Keeps the maximum, because two events can arrive out of order.
            lastSign = max(lastSign ?? now, now)
            failures = 0
            return []
        case (.tick, .reconnecting(_, let time)) where time <= now: return connect()
        case (.tick, .connected): return look(at: now)
        case (.networkChanged, .connecting), (.networkChanged, .connected):
            if let settled, now < settled {
                hasChangedAgain = true
                return []
            }
            return renew(at: now)
        case (.networkChanged, .reconnecting):
            failures = 0
            settled = now.advanced(by: policy.settling)
            return connect()
        case (.stop, .connecting), (.stop, .connected): return [.drop] + change(to: .disconnected)
        case (.stop, .reconnecting): return change(to: .disconnected)
        default: return []
        }
    }

    private mutating func look(at now: Instant) -> [Action] {
        guard let lastSign, let lastPing else { return [] }
        if lastSign.advanced(by: policy.silence) <= now { return [.drop] + retry(at: now) }
        guard lastPing.advanced(by: policy.ping) <= now else { return [] }
        self.lastPing = now
        return [.ping]
    }

    /// Drops everything made over the old network.
    private mutating func renew(at now: Instant) -> [Action] {
        (failures, hasChangedAgain) = (0, false)
        settled = now.advanced(by: policy.settling)
        return [.drop] + connect()
    }

    private mutating func retry(at now: Instant) -> [Action] {
        failures += 1
        guard let wait = policy.wait(after: failures) else { return change(to: .disconnected) }
        return change(to: .reconnecting(attempt: failures, at: now.advanced(by: wait)))
    }

    private mutating func connect() -> [Action] {
        [.connect] + change(to: .connecting)
    }

    private mutating func change(to new: State) -> [Action] {
        let isNew = state != new
        state = new
        return isNew ? [.changed(new)] : []
    }
}

/// The state of a maintained connection (row D-02).
public enum ConnectionState<Instant: InstantProtocol>: Sendable, Hashable {
    case disconnected
    case connecting
    case connected
    /// The next attempt, counted from 1, starts at that time.
    case reconnecting(attempt: Int, at: Instant)

    /// The state in a word.
    var word: String {
        switch self {
        case .disconnected: "disconnected"
        case .connecting: "connecting"
        case .connected: "connected"
        case .reconnecting: "reconnecting"
        }
    }
}

/// When a connection is retried, given up, and tested. The defaults are rows D-02 and D-03.
public struct ConnectionPolicy: Sendable, Hashable {
    /// The waits after the first failure, the second, and so on; the last one repeats.
    public var backoff: [Duration] = [1, 2, 4, 8, 16, 30].map { .seconds($0) }
    /// The number of consecutive failures after which it ends.
    public var maximumFailures = 10
    /// After the last failure, continues at this interval instead of ending.
    public var persistence: Duration?
    /// After this time without data from the server, the connection counts as dead.
    public var silence: Duration = .seconds(45)
    /// How long further network changes are collected after one: a network comes back in several steps.
    public var settling: Duration = .seconds(2)
    /// The interval between pings.
    public var ping: Duration = .seconds(30)

    /// The default waits, limits and intervals.
    public init() {}

    /// The wait after this many consecutive failures, or nil to give up.
    func wait(after failures: Int) -> Duration? {
        guard failures < maximumFailures else { return persistence }
        return backoff.isEmpty ? .zero : backoff[min(failures, backoff.count) - 1]
    }
}
