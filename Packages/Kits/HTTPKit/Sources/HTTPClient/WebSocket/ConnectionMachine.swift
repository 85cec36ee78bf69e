/// Decides when a connection is made, tested, dropped and made again. It has no clock and no connection: times are
/// given in, and what is to be done comes out.
public struct ConnectionMachine<Instant: InstantProtocol>: Sendable where Instant.Duration == Duration {
    public typealias State = ConnectionState<Instant>

    /// What has happened.
    public enum Event: Sendable, Hashable {
        /// Somebody wants the connection.
        case start
        /// The attempt succeeded.
        case connected
        /// The attempt failed, or the connection was lost.
        case failed
        /// The attempt was refused, and every further one would be.
        case refused
        /// Anything came from the server: each message is a sign of life.
        case received
        /// The network is another one, or the machine slept: what was connected is not any more.
        case networkChanged
        /// Time has passed; `nextTick` says when this is due.
        case tick
        /// Nobody wants the connection any more.
        case stop
    }

    /// What is to be done, in this order.
    public enum Action: Sendable, Hashable {
        /// Drop the connection or the attempt that there is.
        case drop
        case connect
        case ping
        case changed(State)
    }

    public private(set) var state = State.disconnected
    private let policy: ConnectionPolicy
    /// Failures in a row: a connection on which nothing ever came has not ended the row.
    private var failures = 0
    private var lastSign: Instant?
    private var lastPing: Instant?
    /// Until when further changes of the network are gathered, and whether there was one.
    private var settled: Instant?
    private var hasChangedAgain = false

    public init(policy: ConnectionPolicy = ConnectionPolicy()) {
        self.policy = policy
    }

    /// When the next tick is due; nil when nothing but an event goes on.
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
            // Also when two events cross on their way and time seems to go back.
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

    /// What was made over the network as it was is dropped.
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

/// How a connection that is kept up is doing (row D-02).
public enum ConnectionState<Instant: InstantProtocol>: Sendable, Hashable {
    case disconnected
    case connecting
    case connected
    /// The next attempt, counted from 1, is made at that time.
    case reconnecting(attempt: Int, at: Instant)
}

/// When a connection is tried again, given up, and asked for a sign of life. The defaults are rows D-02 and D-03.
public struct ConnectionPolicy: Sendable, Hashable {
    /// The waits after the first failure, the second, and so on; the last is kept.
    public var backoff: [Duration] = [1, 2, 4, 8, 16, 30].map { .seconds($0) }
    /// After how many failures in a row it ends.
    public var maximumFailures = 10
    /// Goes on at this pace instead of ending after the last failure.
    public var persistence: Duration?
    /// Without anything from the server for so long, the connection is taken for dead.
    public var silence: Duration = .seconds(45)
    /// After one change of the network, further ones are gathered for so long: a network comes back in several steps.
    public var settling: Duration = .seconds(2)
    /// How often a ping is sent.
    public var ping: Duration = .seconds(30)

    public init() {}

    /// The wait after so many failures in a row, or nil to give up.
    func wait(after failures: Int) -> Duration? {
        guard failures < maximumFailures else { return persistence }
        return backoff.isEmpty ? .zero : backoff[min(failures, backoff.count) - 1]
    }
}
