public import Capabilities
public import JSON
public import Screens
import Synchronization

/// What an open screen shows now.
public enum ScreenState: Sendable {
    /// The body has not shown anything yet.
    case loading
    /// The newest value.
    case ready(Block)
    /// The body has failed. The last value is kept, because it may still be of use.
    case failed(any Failure, last: Block?)

    /// The newest value, if there is one.
    public var block: Block? {
        switch self {
        case .loading: nil
        case .ready(let block): block
        case .failed(_, let last): last
        }
    }
}

/// An open screen, for whoever shows it.
///
/// ```swift
/// try await session.open("weather.today", ["city": "Bern"], as: .person(questions), output: output) { screen in
///     for try await state in screen.states { draw(state) }
/// }
/// ```
public final class OpenScreen: Sendable {
    /// The declaration.
    public let screen: Screen
    /// The arguments that it was opened with.
    public let arguments: JSONObject
    let output: any ActionOutput
    /// Settled when the body begins, or with the reason why it may not.
    let began = Promise<Void>()
    /// Raised with each new state.
    private let news = Signal()
    /// Raised when the value may be outdated, also by a person who asks to look again.
    private let outdated = Signal()
    /// Raised when a hidden body may have to go on.
    private let visibility = Signal()
    private let content = Mutex(Content())

    private struct Content {
        var state = ScreenState.loading
        var isVisible = true
        /// Whether the rights that it needs were lost.
        var isOver = false
        /// How often the person has asked to look again.
        var asked = 0
        /// What the body has taken note of: how often `outdated` was raised, and how often the person has asked.
        var seen = (outdated: 0, asked: 0)
        var observed: [(feed: any AnyFeed, number: Int)] = []
        /// What the body keeps when it begins again, by type.
        var kept: [ObjectIdentifier: any Sendable] = [:]
    }

    init(_ screen: Screen, _ arguments: JSONObject, output: any ActionOutput) {
        self.screen = screen
        self.arguments = arguments
        self.output = output
    }

    // MARK: For whoever shows it

    /// What it shows now.
    public var state: ScreenState { content.withLock { $0.state } }

    /// The states from now on, the newest whenever the reader is ready for one. A state comes again when a feed in it has
    /// grown. Ends only by cancellation, which throws.
    public var states: States { States(screen: self) }

    /// The first value.
    ///
    /// - Throws: what the body throws instead, and `CancellationError`.
    public func block() async throws -> Block {
        for try await state in states {
            switch state {
            case .loading: continue
            case .ready(let block): return block
            case .failed(let failure, _): throw failure
            }
        }
        throw CancellationError()
    }

    /// Whether anybody sees it. A hidden screen is suspended when it has shown its next value.
    public var isVisible: Bool {
        get { content.withLock { $0.isVisible } }
        set {
            content.withLock { $0.isVisible = newValue }
            visibility.raise()
        }
    }

    /// Lets the body look again, or begin again if it has failed or returned.
    public func refresh() {
        content.withLock { $0.asked += 1 }
        outdated.raise()
    }

    /// The states of an open screen.
    public struct States: AsyncSequence, Sendable {
        public typealias Element = ScreenState
        public typealias Failure = any Error
        let screen: OpenScreen

        public func makeAsyncIterator() -> Iterator { Iterator(screen: screen) }

        /// Waits for states.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            let screen: OpenScreen
            private var seen = -1

            init(screen: OpenScreen) { self.screen = screen }

            public mutating func next() async throws -> ScreenState? {
                seen = try await screen.news.wait(beyond: seen)
                return screen.state
            }
        }
    }

    // MARK: For the session and the body

    func publish(_ state: ScreenState) {
        let feeds = state.block?.feeds ?? []
        content.withLock { content in
            if content.isOver { return }
            content.state = state
            // A feed that is no longer shown must not wake anybody.
            for (feed, number) in content.observed where !feeds.contains(where: { $0 === feed }) {
                feed.removeObserver(number)
            }
            content.observed.removeAll { old in !feeds.contains { $0 === old.feed } }
            for feed in feeds where !content.observed.contains(where: { $0.feed === feed }) {
                content.observed.append((feed, feed.addObserver { [weak self] in self?.news.raise() }))
            }
        }
        news.raise()
    }

    /// The value may be outdated.
    func outdate() {
        outdated.raise()
        visibility.raise()
    }

    /// The body reads everything from here on.
    func takeNote() {
        content.withLock { $0.seen = (outdated.count, $0.asked) }
    }

    /// Shows nothing from now on but why it was closed, whatever its body still does.
    func end(_ refusal: AccessFailure) {
        publish(.failed(AnyFailure(refusal), last: nil))
        content.withLock { $0.isOver = true }
    }

    func fail(_ error: any Error) { publish(.failed(AnyFailure(error), last: state.block)) }

    /// The body has returned. Its last value stays, also after a failure in between.
    func settle() {
        switch state {
        case .ready: break
        case .failed(_, let last?): publish(.ready(last))
        case .loading, .failed(_, nil):
            publish(.ready(Block(.placeholder(Placeholder(.empty, "there is nothing to show")))))
        }
    }

    /// Ends all observation.
    func close() {
        content.withLock { content in
            for (feed, number) in content.observed { feed.removeObserver(number) }
            content.observed = []
        }
    }

    /// Waits until somebody sees it.
    ///
    /// - Throws: `ScreenOutdated` when the body has to begin again before that.
    func waitUntilVisible(unless isOutdated: () -> Bool) async throws {
        while true {
            let count = visibility.count
            if isVisible { return }
            if isOutdated() { throw ScreenOutdated() }
            try await visibility.wait(beyond: count)
        }
    }

    /// Waits until the value may be outdated, until a signal of the body is raised beyond a number, or until the limit is
    /// over. After a signal alone the body need not read everything, so nothing else is taken note of.
    func waitForChange(
        or signal: (Signal, beyond: Int)? = nil, atMost limit: Duration?, _ clock: any Clock<Duration>
    ) async throws -> ScreenChange {
        let seen = content.withLock { $0.seen.outdated }
        let first = try await withThrowingTaskGroup(of: ScreenChange.self) { [outdated] group in
            group.addTask {
                try await outdated.wait(beyond: seen)
                return .outdated
            }
            if let (signal, count) = signal {
                group.addTask {
                    try await signal.wait(beyond: count)
                    return .raised
                }
            }
            if let limit {
                group.addTask {
                    try await clock.sleep(for: limit)
                    return .due
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? .outdated
        }
        let change = outdated.count > seen ? .outdated : first
        if change != .raised { takeNote() }
        return change
    }

    /// The value of this type that the body keeps when it begins again.
    func kept<Value: Sendable>(_ make: () -> Value) -> Value {
        let key = ObjectIdentifier(Value.self)
        if let value = content.withLock({ $0.kept[key] as? Value }) { return value }
        // Outside of the lock, since it may use this screen.
        let made = make()
        return content.withLock { content in
            if let value = content.kept[key] as? Value { return value }
            content.kept[key] = made
            return made
        }
    }

    /// Whether something may have changed since the body began.
    var isOutdated: Bool { outdated.count > content.withLock { $0.seen.outdated } }

    /// Waits until it is worth to try again after a failure: something may have changed, or the person asks for it.
    func waitForRetry() async throws { try await outdated.wait(beyond: content.withLock { $0.seen.outdated }) }

    /// Waits until the person asks to look again, or until something else requires it.
    func waitForRefresh(or isRequired: () -> Bool) async throws {
        while true {
            let count = outdated.count
            if content.withLock({ $0.asked > $0.seen.asked }) || isRequired() { return }
            try await outdated.wait(beyond: count)
        }
    }
}
