public import Capabilities
public import JSON
import Screens
import Synchronization

/// A running workbench: features are created once, started when first needed, and closed once.
///
/// Any number of actions run in it concurrently while it is open. State of a single action, such as the person who
/// asks, is in its `ActionContext` and never stored in a feature. When the settings change, later actions use a new
/// `Generation`; an older one is closed after its last action.
///
/// ```swift
/// let session = workbench.open()
/// let answer = try await session.perform("weather.now", ["city": "Bern"], as: .person(questions), output: screen)
/// await session.close()
/// ```
public final class WorkbenchSession: Sendable {
    /// Time limits for starting and stopping a feature.
    public struct Limits: Sendable {
        /// How long a feature may take to become ready.
        public var start: Duration
        /// How long a feature may take to end after it was cancelled.
        public var stop: Duration

        /// The program uses the defaults.
        public init(start: Duration = .seconds(10), stop: Duration = .seconds(5)) {
            self.start = start
            self.stop = stop
        }
    }

    /// The maximum number of live generations. While it is reached, changed settings wait.
    static let mostGenerations = 4
    /// How long a screen that failed waits if its own body, or something beside it, has written meanwhile.
    static let retryPause = Duration.seconds(1)
    /// The interval between checks for changes.
    static let lookingPause = Duration.seconds(1)

    private let limits: Limits
    private let renewal: (any Renewal)?
    private let state: Mutex<State>

    private struct State {
        var newest: Generation
        /// The generations that are not closed yet, the newest last.
        var live: [Live]
        /// When no check is needed, because one has just run. Nil if the next action must check.
        var looked: Range<Timestamp>?
        var isLooking = false
        /// Whether the person was told that changed settings wait.
        var hasToldOfWaiting = false
        /// The screens that are open, by a number of their own.
        var screens: [Int: OpenScreen] = [:]
        var nextScreen = 0
        /// The features that did not close in time with their generation.
        var stuck: [String] = []
        var isClosed = false

        /// Whether to check for changes. If the clock was set back, checking must still continue.
        func isDue(at now: Timestamp) -> Bool {
            !isClosed && !isLooking && looked?.contains(now) != true
        }

        /// Counts another user of the newest generation.
        mutating func use() -> Generation {
            change(newest, 1)
            return newest
        }

        /// Changes the number of users of a generation.
        mutating func change(_ generation: Generation, _ count: Int) {
            // The newest is the last one, and usually the one that is meant.
            for index in live.indices.reversed() where live[index].generation === generation {
                live[index].users += count
            }
        }
    }

    private struct Live {
        let generation: Generation
        var users = 0
        /// Closes it, once it is no longer the newest and has no users.
        var closing: Task<[String], Never>?
    }

    /// Creates a session; nothing is started or opened yet.
    ///
    /// - Parameters:
    ///   - host: must not have another open session.
    ///   - failure: the problems of its settings and composition, if any.
    ///   - renewal: provides a new host after a change; nil for never.
    public init(
        _ host: Host, failure: (any Failure)? = nil, limits: Limits = Limits(), renewal: (any Renewal)? = nil
    ) {
        self.limits = limits
        self.renewal = renewal
        let first = Generation(0, host, failure: failure, limits: limits)
        state = Mutex(State(newest: first, live: [Live(generation: first)], looked: Self.pause(from: host.now())))
    }

    /// The newest generation, for inspection. It may be closed at any time; `keepNewest` prevents that.
    public var newest: Generation { state.withLock { $0.newest } }

    /// The number of generations that are not closed yet.
    var liveGenerations: Int { state.withLock { $0.live.count } }

    /// The number of screens that are open.
    var openScreens: Int { state.withLock { $0.screens.count } }

    /// Performs an action with the newest settings. All surfaces use this method.
    ///
    /// Starts the features that the action needs. Asks before a destructive action, unless the person has agreed.
    /// Records every action as a span.
    ///
    /// - Parameters:
    ///   - limit: the action is cancelled after this time, and abandoned if it does not react; nil for no limit.
    ///   - isAgreed: whether the person has already agreed to destructive effects.
    /// - Throws: `RegistryError`, `AccessFailure`, `ArgumentsFailure`, `InteractionError`, `SessionError`, or what the action
    ///   itself throws.
    public func perform(
        _ id: String, _ arguments: JSONObject = [:], as caller: Caller, output: any ActionOutput,
        limit: Duration? = nil, isAgreed: Bool = false
    ) async throws -> any OutputValue {
        let generation = useNewest { output.notice($0) }
        defer { giveBack(generation) }
        let registered = try generation.registry.actions.registration(of: id)
        let context = ActionContext(
            session: self, generation: generation, caller: caller, output: output, feature: registered.owner)
        return try await generation.perform(registered, arguments, in: context, limit: limit, isAgreed: isAgreed)
    }

    /// Opens a screen for as long as `show` runs. All surfaces use this method.
    ///
    /// The body of the screen runs with the caller's rights, and is closed when these end: the screen has then failed and
    /// shows nothing else. It begins again when the settings have changed. After a failure it does so when anything may
    /// have changed, and after it has returned when the person asks for that.
    ///
    /// - Throws: `RegistryError`, `AccessFailure`, `ArgumentsFailure`, `SessionError`, or what `show` throws. A failure of
    ///   the body is a state of the screen.
    public func open<Value: Sendable>(
        _ id: String, _ arguments: JSONObject = [:], as caller: Caller, output: any ActionOutput,
        _ show: @escaping @Sendable (OpenScreen) async throws -> Value
    ) async throws -> Value {
        look { output.notice($0) }
        let view = OpenScreen(try newest.registry.screens.find(id), arguments, output: output)
        let number = state.withLock { state in
            state.screens[state.nextScreen] = view
            defer { state.nextScreen += 1 }
            return state.nextScreen
        }
        defer {
            state.withLock { _ = $0.screens.removeValue(forKey: number) }
            view.close()
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.run(view, as: caller) }
            defer { group.cancelAll() }
            try await view.began.value()
            return try await show(view)
        }
    }

    /// Runs the body of a screen until the screen is closed or the grant of the caller ends.
    private func run(_ view: OpenScreen, as caller: Caller) async throws {
        guard caller.grant.canEnd else { return try await runAgainAndAgain(view, as: caller) }
        try await withThrowingTaskGroup(of: AccessFailure?.self) { group in
            group.addTask {
                try await self.runAgainAndAgain(view, as: caller)
                return nil
            }
            group.addTask { try await caller.grant.end() }
            defer { group.cancelAll() }
            guard let refusal = try await group.next() ?? nil else { return }
            view.began.settle(with: .failure(refusal))
            view.end(refusal)
        }
    }

    /// Runs the body of a screen, again whenever that is worth it.
    private func runAgainAndAgain(_ view: OpenScreen, as caller: Caller) async throws {
        while true {
            look { view.output.notice($0) }
            // Before anything is read, so that no change is missed.
            view.takeNote()
            let generation: Int
            do {
                generation = try await runOnce(view, as: caller)
            } catch is ScreenOutdated {
                continue
            } catch {
                // A refusal before the body has begun is thrown where the screen is opened.
                view.began.settle(with: .failure(error))
                if Task.isCancelled { return }
                view.fail(error)
                try await waitForRetry(of: view)
                continue
            }
            view.settle()
            try await view.waitForRefresh { newest.number != generation }
        }
    }

    /// Waits until a failed screen is worth another try: somebody sees it, and something may have changed.
    private func waitForRetry(of view: OpenScreen) async throws {
        // A body that writes has outdated its own screen, and would otherwise fail again and again without a pause.
        if view.isOutdated { try await newest.host.clock.sleep(for: Self.retryPause) }
        try await view.waitForRetry()
        guard !view.screen.runsHidden else { return }
        let number = newest.number
        do {
            try await view.waitUntilVisible { newest.number != number }
        } catch is ScreenOutdated {
            // The new settings may be what it failed for.
        }
    }

    /// - Returns: the number of the generation that was used.
    private func runOnce(_ view: OpenScreen, as caller: Caller) async throws -> Int {
        let generation = state.withLock { $0.use() }
        defer { giveBack(generation) }
        let screens = generation.registry.screens
        let screen = try screens.find(view.screen.id)
        let owner = screens.owner(of: screen) ?? ""
        let context = ActionContext(
            session: self, generation: generation, caller: caller, output: view.output, feature: owner)
        let action = RegisteredAction(screen.action(showingIn: view), of: owner)
        // What a screen looks up again and again would hide what the person did.
        _ = try await Tracer.muted {
            try await generation.perform(action, view.arguments, in: context, limit: nil, isAgreed: false)
        }
        return generation.number
    }

    /// Something was written, or the settings have changed, so open screens may be outdated.
    func hasWritten() {
        for screen in state.withLock({ Array($0.screens.values) }) { screen.outdate() }
    }

    /// The newest generation, for the further work of a long-running action.
    ///
    /// - Parameter tell: is told once why changed settings are not used.
    public func keepNewest(telling tell: (String) -> Void) -> KeptGeneration {
        KeptGeneration(useNewest(tell), of: self)
    }

    /// Makes the next action check for changed settings, because an action has changed them. An action that begins
    /// during another check may still see the old ones.
    public func lookAgain() {
        state.withLock { $0.looked = nil }
    }

    /// Stops and closes all features in reverse order of their needs. Nothing can be performed in the session
    /// afterwards.
    ///
    /// - Returns: the features that exceeded the limit; they are abandoned.
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

    /// Counts another user of the newest generation, after replacing it if a change is due.
    private func useNewest(_ tell: (String) -> Void) -> Generation {
        // The usual case takes the lock once.
        let newest = state.withLock { state in
            renewal != nil && state.isDue(at: state.newest.host.now()) ? nil : state.use()
        }
        if let newest { return newest }
        look(tell)
        return state.withLock { $0.use() }
    }

    /// Replaces the newest generation if a change is due.
    func look(_ tell: (String) -> Void) {
        guard let renewal, let present = beginLooking() else { return }
        defer { state.withLock { $0.isLooking = false } }
        guard renewal.isDue() else { return }
        guard state.withLock({ $0.live.count < Self.mostGenerations }) else {
            let isFirst = state.withLock { !exchange(&$0.hasToldOfWaiting, with: true) }
            if isFirst {
                tell(
                    "the settings have changed; they take effect as soon as everything that runs with the oldest of the "
                        + "\(Self.mostGenerations) settings in use has finished")
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
            hasWritten()
        }
    }

    /// The newest generation, for a check; nil if another check is running or has just run.
    private func beginLooking() -> Generation? {
        state.withLock { state in
            let now = state.newest.host.now()
            guard state.isDue(at: now) else { return nil }
            (state.looked, state.isLooking) = (Self.pause(from: now), true)
            return state.newest
        }
    }

    private static func pause(from time: Timestamp) -> Range<Timestamp> { time..<time + lookingPause }

    fileprivate func giveBack(_ generation: Generation) {
        state.withLock { state in
            state.change(generation, -1)
            if generation !== state.newest { closeUnused(&state) }
        }
    }

    private func closeUnused(_ state: inout State) {
        for (index, live) in state.live.enumerated()
        where live.users == 0 && live.closing == nil && live.generation !== state.newest {
            // `close` awaits the task. The last user of the generation does not wait for it and does not own it.
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

/// Keeps a generation open for as long as this object lives.
public final class KeptGeneration: Sendable {
    /// The generation, open until this object is released.
    public let generation: Generation
    private let session: WorkbenchSession

    init(_ generation: Generation, of session: WorkbenchSession) {
        self.generation = generation
        self.session = session
    }

    deinit { session.giveBack(generation) }
}

/// Provides a session with a new host when the inputs of the present one have changed.
public protocol Renewal: Sendable {
    /// Whether something has changed. Called at most once a second; must be cheap.
    func isDue() -> Bool

    /// A new host for the present inputs. A change is reported only once.
    func renewed(after present: Generation) -> RenewalOutcome
}

/// The result of a renewal.
public enum RenewalOutcome: Sendable {
    /// The new host; with a failure, it has problems and only actions marked `always()` run.
    case renewed(Host, failure: (any Failure)?)
    /// The present host stays in use, with the reason; reported once.
    case kept(String)
}

/// Why a session did not perform an action.
public enum SessionError: Failure, Hashable {
    /// It took longer than this limit.
    case timedOut(Duration)
    /// The feature with this id did not start.
    case featureFailed(String, why: String)
    /// The session was closed before.
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
        case .timedOut(let limit): "it did not finish within \(limit.words); allow more time with --timeout"
        case .featureFailed(let id, let why): "the feature \(id) did not start, so this cannot be done: \(why)"
        case .closed: "the session is closed; open another one"
        }
    }
}
