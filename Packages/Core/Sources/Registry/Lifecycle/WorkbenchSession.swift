public import Capabilities
public import JSON
import Synchronization

/// The living workbench: features that were made once, are started when something first needs them, and are closed once.
///
/// Any number of actions are done in it side by side, for as long as it is open. What belongs to one of them, such as the
/// person who asks, is in its `ActionContext` and kept by no feature. When the settings change, the next action finds
/// them as a whole in a `Generation` of its own; an older one is closed with its last action.
///
/// ```swift
/// let session = workbench.open()
/// let answer = try await session.perform("weather.now", ["city": "Bern"], as: .person(questions), output: screen)
/// await session.close()
/// ```
public final class WorkbenchSession: Sendable {
    /// How long a feature may take.
    public struct Limits: Sendable {
        public var start: Duration
        public var stop: Duration

        public init(start: Duration = .seconds(10), stop: Duration = .seconds(5)) {
            self.start = start
            self.stop = stop
        }
    }

    /// How many generations may live; while so many do, changed settings wait.
    static let mostGenerations = 4
    /// How often it is looked whether something has changed.
    static let lookingPause = Duration.seconds(1)

    private let limits: Limits
    private let renewal: (any Renewal)?
    private let state: Mutex<State>

    private struct State {
        var newest: Generation
        /// Those that are not closed yet, the newest last.
        var live: [Live]
        /// Nil when the next action looks in any case.
        var lastLook: Timestamp?
        var isLooking = false
        /// Whether it was told that changed settings wait.
        var hasToldOfWaiting = false
        /// The features that were not closed in time with their generation.
        var stuck: [String] = []
        var isClosed = false

        /// Notes that somebody uses the newest generation now.
        mutating func use() -> Generation {
            if let index = live.lastIndex(where: { $0.generation === newest }) { live[index].users += 1 }
            return newest
        }
    }

    private struct Live {
        let generation: Generation
        var users = 0
        /// The task that closes it, once it is not the newest any more and nobody uses it.
        var closing: Task<[String], Never>?
    }

    /// Starts and opens nothing yet.
    ///
    /// - Parameters:
    ///   - host: of which no other session is open.
    ///   - failure: the problems of its settings and composition, if there are any.
    ///   - renewal: says when another host takes its place; nil for never.
    public init(
        _ host: Host, failure: (any Failure)? = nil, limits: Limits = Limits(), renewal: (any Renewal)? = nil
    ) {
        self.limits = limits
        self.renewal = renewal
        let first = Generation(0, host, failure: failure, limits: limits)
        state = Mutex(State(newest: first, live: [Live(generation: first)], lastLook: host.now()))
    }

    /// The newest generation, for a look; it may be closed at any time. `keepNewest` keeps it.
    public var newest: Generation { state.withLock { $0.newest } }

    /// How many generations are not closed yet.
    var liveGenerations: Int { state.withLock { $0.live.count } }

    /// Does an action with the newest settings: the one way in for every surface.
    ///
    /// What it needs is started, unless it is already. What destroys asks first, unless the person has agreed; everything
    /// is a span.
    ///
    /// - Parameters:
    ///   - limit: after which it is cancelled, and given up where it does not listen; nil for none.
    ///   - isAgreed: whether the person has agreed beforehand to what destroys.
    /// - Throws: `RegistryError`, `AccessFailure`, `ArgumentsFailure`, `InteractionError`, `SessionError`, or what the action
    ///   itself throws.
    public func perform(
        _ id: String, _ arguments: JSONObject = [:], as caller: Caller, output: any ActionOutput,
        limit: Duration? = nil, isAgreed: Bool = false
    ) async throws -> any OutputValue {
        look { output.notice($0) }
        let generation = state.withLock { $0.use() }
        defer { giveBack(generation) }
        let context = ActionContext(session: self, generation: generation, caller: caller, output: output)
        return try await generation.perform(
            try generation.registry.actions.find(id), arguments, in: context, limit: limit, isAgreed: isAgreed)
    }

    /// The newest generation, for what an action that lasts does from now on.
    ///
    /// - Parameter tell: is told once why changed settings are not used.
    public func keepNewest(telling tell: (String) -> Void) -> KeptGeneration {
        look(tell)
        return KeptGeneration(state.withLock { $0.use() }, of: self)
    }

    /// Has the next action look whether settings have changed, because an action has changed them. One that begins while
    /// another looks already may still find the old ones.
    public func lookAgain() {
        state.withLock { $0.lastLook = nil }
    }

    /// Stops and closes every feature, those last that others need; nothing can be done in the session any more.
    ///
    /// - Returns: the features that took longer than they may; they are abandoned.
    @discardableResult
    public func close() async -> [String] {
        var (live, stuck) = state.withLock { state in
            state.isClosed = true
            defer { (state.live, state.stuck) = ([], []) }
            return (state.live, state.stuck)
        }
        live.reverse()
        for live in live {
            let late = if let closing = live.closing { await closing.value } else { await live.generation.close() }
            stuck += late
        }
        return stuck
    }

    // MARK: Generations

    /// Puts another generation in the place of the newest one when that is due.
    private func look(_ tell: (String) -> Void) {
        guard let renewal, let present = beginLooking() else { return }
        defer { state.withLock { $0.isLooking = false } }
        guard renewal.isDue() else { return }
        guard state.withLock({ $0.live.count < Self.mostGenerations }) else {
            let isFirst = state.withLock { !exchange(&$0.hasToldOfWaiting, with: true) }
            if isFirst {
                tell(
                    "the settings have changed, and are used as soon as nothing runs any more that began with the oldest of the "
                        + "\(Self.mostGenerations) settings that are in use")
            }
            return
        }
        switch renewal.renewed(after: present) {
        case .kept(let reason): tell(reason)
        case .renewed(let host, let failure):
            let next = Generation(present.number + 1, host, failure: failure, limits: limits)
            state.withLock { state in
                guard !state.isClosed else { return }
                state.newest = next
                state.live.append(Live(generation: next))
                state.hasToldOfWaiting = false
                closeUnused(&state)
            }
        }
    }

    /// The newest generation, for the one that looks now; nil when somebody has looked just before.
    private func beginLooking() -> Generation? {
        state.withLock { state in
            guard !state.isClosed, !state.isLooking else { return nil }
            let now = state.newest.host.now()
            // A clock that was put back is no reason to look never again.
            if let last = state.lastLook, (last..<last + Self.lookingPause).contains(now) { return nil }
            (state.lastLook, state.isLooking) = (now, true)
            return state.newest
        }
    }

    fileprivate func giveBack(_ generation: Generation) {
        state.withLock { state in
            guard let index = state.live.firstIndex(where: { $0.generation === generation }) else { return }
            state.live[index].users -= 1
            closeUnused(&state)
        }
    }

    private func closeUnused(_ state: inout State) {
        for (index, live) in state.live.enumerated()
        where live.users == 0 && live.closing == nil && live.generation !== state.newest {
            // `close` awaits it. Whoever used the generation last does not wait for it, and is not its owner.
            state.live[index].closing = Task.detached { [self] in
                let stuck = await live.generation.close()
                self.state.withLock { state in
                    state.live.removeAll { $0.generation === live.generation }
                    if !state.isClosed { state.stuck += stuck }
                }
                return stuck
            }
        }
    }
}

/// Keeps a generation from being closed for as long as somebody keeps this.
public final class KeptGeneration: Sendable {
    public let generation: Generation
    private let session: WorkbenchSession

    init(_ generation: Generation, of session: WorkbenchSession) {
        self.generation = generation
        self.session = session
    }

    deinit { session.giveBack(generation) }
}

/// Gives a session another host when what the present one was made of has changed.
public protocol Renewal: Sendable {
    /// Whether something has changed. It is asked once a second at most, and has to be cheap.
    func isDue() -> Bool

    /// Another host, made of what there is now; what has changed is not told of again.
    func renewed(after present: Generation) -> RenewalOutcome
}

/// What came of a change.
public enum RenewalOutcome: Sendable {
    case renewed(Host, failure: (any Failure)?)
    /// The present one stays, and why: told once.
    case kept(String)
}

/// Why a session does not do an action.
public enum SessionError: Failure, Hashable {
    case timedOut(Duration)
    case featureFailed(String, why: String)
    case closed

    public var code: String {
        switch self {
        case .timedOut: "host.timed-out"
        case .featureFailed: "host.feature-failed"
        case .closed: "host.closed"
        }
    }

    public var exit: ExitCode {
        switch self {
        case .timedOut: .unreachable
        case .featureFailed, .closed: .failed
        }
    }

    public var message: String {
        switch self {
        case .timedOut(let limit): "it was not done within \(limit.words); give it more time with --timeout"
        case .featureFailed(let id, let why): "the feature \(id) did not start, so this cannot be done: \(why)"
        case .closed: "the session is closed; open another one"
        }
    }
}
