public import Capabilities
public import JSON
public import Registry
public import Screens
import Settings
import Synchronization

/// A composition in memory: features, settings and answers in, results and events out. It does not touch the machine.
public struct TestHost: Sendable {
    public let host: Host
    /// The session for everything that is performed here. Close it if features open something.
    public let session: WorkbenchSession
    public let output = RecordingOutput()
    public let clock: TestClock
    private let interaction: any Interaction
    private let features: [BuiltInFeature]
    private let changes = TestChanges()

    /// The first composition, before any change of settings.
    public var composition: Composition { host.composition }

    /// - Parameters:
    ///   - features: the features, as the executable would list them.
    ///   - settings: the text of a settings file.
    ///   - answers: the person's answers, by question id.
    public init(
        _ features: [BuiltInFeature], settings text: String = "{}", answers: [String: JSON] = [:],
        environment: [String: String] = [:], folder: String = "/nonexistent"
    ) throws {
        let clock = TestClock()
        try self.init(
            features, settings: text, answers: answers, environment: environment, folder: folder, clock: clock,
            time: clock)
    }

    /// - Parameter time: the clock for limits and pauses.
    init(
        _ features: [BuiltInFeature], settings text: String = "{}", answers: [String: JSON] = [:],
        environment: [String: String] = [:], folder: String, clock: TestClock, time: any Clock<Duration>
    ) throws {
        self.clock = clock
        host = try Self.host(
            features, text,
            Surroundings(
                environment: environment,
                locations: Locations(
                    current: folder, config: folder + "/config", data: folder + "/data", state: folder + "/state",
                    cache: folder + "/cache"),
                clock: time, now: { Timestamp(microseconds: Int64(clock.now.offset.milliseconds) * 1000) }))
        self.features = features
        session = WorkbenchSession(host, renewal: changes)
        interaction = HeadlessInteraction(answers: answers)
    }

    private static func host(
        _ features: [BuiltInFeature], _ text: String, _ surroundings: Surroundings
    ) throws -> Host {
        let catalogue = SettingsCatalogue(of: features)
        let layer = try SettingsLayer(origin: .user(file: "settings.json"), text: Array(text.utf8))
        let settings = Settings(merging: [layer], overrides: [], catalogue: catalogue) { _, _ in true }
        if !settings.problems.isEmpty { throw SettingsFailure(settings.problems) }
        return Host(
            name: "martlet", version: "test", surroundings: surroundings, settings: settings, catalogue: catalogue,
            composition: Composition(features, settings: settings, surroundings: surroundings),
            preparation: .milliseconds(3))
    }

    public init(
        _ types: [any Feature.Type], settings text: String = "{}", answers: [String: JSON] = [:],
        environment: [String: String] = [:], folder: String = "/nonexistent"
    ) throws {
        try self.init(
            types.map { BuiltInFeature($0) }, settings: text, answers: answers, environment: environment, folder: folder
        )
    }

    /// Changes the settings, as if the person had edited the file; the next action uses them.
    public func change(settings text: String) throws {
        let surroundings = host.surroundings.moved(to: host.locations)
        changes.put(.renewed(try Self.host(features, text, surroundings), failure: nil))
        session.lookAgain()
    }

    /// The context that an action's body would receive, for tests of code below actions.
    public func context(asking interaction: (any Interaction)? = nil) -> ActionContext {
        ActionContext(
            session: session, generation: session.newest, caller: .person(interaction ?? self.interaction),
            output: output)
    }

    /// Performs an action and returns its result as JSON.
    ///
    /// - Parameter output: records its output; nil for that of this host.
    /// - Throws: `CompositionFailure` if the features cannot be combined, otherwise what the action throws.
    @discardableResult
    public func perform(
        _ id: String, _ arguments: JSONObject = [:], isAgreed: Bool = false, output: RecordingOutput? = nil
    ) async throws -> JSON {
        guard composition.problems.isEmpty else { throw CompositionFailure(composition.problems) }
        return try await session.perform(
            id, arguments, as: .person(interaction), output: output ?? self.output, isAgreed: isAgreed
        ).json
    }
}

extension TestHost {
    /// Opens a screen for as long as `show` runs.
    public func open<Value: Sendable>(
        _ id: String, _ arguments: JSONObject = [:], as caller: Caller? = nil,
        _ show: @escaping @Sendable (OpenScreen) async throws -> Value
    ) async throws -> Value {
        guard composition.problems.isEmpty else { throw CompositionFailure(composition.problems) }
        return try await session.open(id, arguments, as: caller ?? .person(interaction), output: output, show)
    }
}

extension OpenScreen {
    /// The first state from now on that fulfils a condition.
    @discardableResult
    public func state(where condition: (ScreenState) -> Bool) async throws -> ScreenState {
        for try await state in states where condition(state) { return state }
        throw CancellationError()
    }

    /// The first value from now on that fulfils a condition.
    ///
    /// - Throws: what the body throws instead.
    @discardableResult
    public func block(where condition: (Block) -> Bool) async throws -> Block {
        let state = try await state { state in
            if case .failed = state { true } else { state.block.map(condition) == true }
        }
        switch state {
        case .ready(let block): return block
        case .failed(let failure, _): throw failure
        case .loading: throw CancellationError()
        }
    }
}

/// Records all spans.
public final class RecordingSpanSink: SpanSink {
    private let contents = Mutex<[TraceSpan]>([])
    private let redactor: Redactor

    /// - Parameter redactor: removes secrets, as everything that writes spans does.
    public init(without redactor: Redactor = Redactor()) {
        self.redactor = redactor
    }

    public var spans: [TraceSpan] { contents.withLock { $0 } }

    public func record(_ span: SpanRecord) {
        let copy = span.copy(without: redactor)
        contents.withLock { $0.append(copy) }
    }
}

/// Settings that change when a test says so.
public final class TestChanges: Renewal {
    private let state = Mutex((next: RenewalOutcome?.none, looks: 0))

    public init() {}

    /// How often a session has checked.
    public var looks: Int { state.withLock { $0.looks } }

    /// Sets the outcome of the next check.
    public func put(_ next: RenewalOutcome) { state.withLock { $0.next = next } }

    public func isDue() -> Bool {
        state.withLock { state in
            state.looks += 1
            return state.next != nil
        }
    }

    public func renewed(after present: Generation) -> RenewalOutcome {
        state.withLock { exchange(&$0.next, with: nil) } ?? .kept("nothing was put there")
    }
}

extension WorkbenchSession.Limits {
    /// For tests of what features do, not of how long they take, because a busy machine is slow.
    public static let unhurried = WorkbenchSession.Limits(start: .seconds(600), stop: .seconds(600))
}
