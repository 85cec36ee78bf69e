public import Bundles
public import Capabilities
import ExpressionKit
import Glibc
public import JSON
import LoopKit
public import Registry
import Synchronization

/// Runs a bundle: its steps in the order of their needs, and in parallel where possible.
///
/// The outcome of a step is in the journal before any step that needs it starts, so that an interrupted run can be
/// resumed without repeating anything. Cancelling stops the running steps; the `finally` steps still run.
public final class RunEngine: Sendable {
    /// Receives the events of a run. A slow receiver delays the step that the event is about.
    public typealias Emit = @Sendable (RunEvent) async -> Void

    let performer: any StepPerformer
    let journal: JournalRun
    let options: RunOptions
    let redactor: Redactor
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    let loadBundle: @Sendable (_ path: String, _ besides: String) throws(BundleFailure) -> BundleSource
    let environment:
        @Sendable (_ bundle: Bundle, _ inputs: JSONObject, _ grant: Grant) async throws ->
            JSONObject
    let reach: BundleReach
    let emit: Emit
    /// The thread of the run. Writing to the journal blocks it. Actions that wait for something leave it.
    private let thread: OwnThreadExecutor?

    /// - Parameters:
    ///   - journal: records the run; it knows what earlier parts of the run have done.
    ///   - reach: what bundles may reach, for their permissions.
    ///   - loadBundle: reads a bundle that another one names.
    ///   - environment: the values of `env`; secrets in them are registered with the redactor.
    ///   - emit: receives all events, from several tasks at once.
    public init(
        performer: any StepPerformer, journal: JournalRun, options: RunOptions = RunOptions(), redactor: Redactor,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp, reach: BundleReach,
        loadBundle: @escaping @Sendable (_ path: String, _ besides: String) throws(BundleFailure) -> BundleSource,
        environment:
            @escaping @Sendable (_ bundle: Bundle, _ inputs: JSONObject, _ grant: Grant) async throws ->
            JSONObject,
        emit: @escaping Emit
    ) {
        self.performer = performer
        self.journal = journal
        self.options = options
        self.redactor = redactor
        self.clock = clock
        self.now = now
        self.loadBundle = loadBundle
        self.environment = environment
        self.reach = reach
        self.emit = emit
        thread = nil
    }

    private init(_ engine: RunEngine, on thread: OwnThreadExecutor) {
        (performer, journal, options) = (engine.performer, engine.journal, engine.options)
        (redactor, clock, now) = (engine.redactor, engine.clock, engine.now)
        (loadBundle, environment, emit) = (engine.loadBundle, engine.environment, engine.emit)
        reach = engine.reach
        self.thread = thread
    }

    /// Runs the bundle with the value of every input. Throws only if the environment cannot be read or no thread can be
    /// started.
    public func run(_ bundle: Bundle, inputs: JSONObject) async throws -> RunSummary {
        let thread = try OwnThreadExecutor()
        defer { thread.end() }
        let engine = RunEngine(self, on: thread)
        return try await withTaskExecutorPreference(thread) {
            try await traced(bundle, journal.id) { try await engine.runHere(bundle, inputs: inputs) }
        }
    }

    private func runHere(_ bundle: Bundle, inputs: JSONObject) async throws -> RunSummary {
        let grant = bundle.grant(in: reach)
        let environment = try await environment(bundle, inputs, grant)
        let started = now()
        let stopwatch = Stopwatch(clock)
        await emit(
            .began(
                RunFacts(
                    id: journal.id, name: bundle.name, file: bundle.source.file, started: started,
                    steps: bundle.allSteps.map(\.id), isResumed: journal.isResumed)))
        let record = RunRecord()
        let level = Level(
            bundle: bundle, inputs: inputs, environment: environment, prefix: "", grant: grant,
            reachable: [Reachable(of: bundle, in: reach).json],
            run: ["id": .string(journal.id.text), "started": started.json])
        let slots = Turn(width: bundle.parallel ?? options.parallel)
        let limit = bundle.timeout ?? options.runLimit
        let (ended, overtime) = await play(level, within: limit, slots, record)
        let timedOut = overtime.map { _ in
            StepError(
                code: "bundle.timed-out", message: "the run did not finish within its timeout of \(limit.words)")
        }
        return await summary(
            of: bundle, ended, record, started: started, took: stopwatch.time(), timedOut: timedOut,
            isCancelled: Task.isCancelled)
    }

    /// Runs the steps of a bundle within a limit, and then its `finally` steps in any case. Also returns the error if
    /// the limit was reached.
    func play(
        _ level: Level, within limit: Duration, _ slots: Turn, _ record: RunRecord
    ) async -> (run: LevelRun, overtime: (any Error)?) {
        var run = LevelRun(engine: self, level: level, slots: slots, record: record)
        var overtime: (any Error)?
        do {
            run = try await run.played(level.bundle.steps, within: limit)
        } catch {
            if !(error is CancellationError) { overtime = error }
        }
        if overtime != nil || Task.isCancelled { run.restoreFromRecord() }
        guard !level.bundle.finally.isEmpty else { return (run, overtime) }
        // Cleanup must not be cancelled together with the work that it cleans up after.
        let ended = await Task(executorPreference: thread) { [self, run] in
            do { return try await run.played(level.bundle.finally, within: options.endLimit) } catch {
                await emit(.notice(step: nil, "the 'finally' steps took longer than \(options.endLimit.words)"))
                return run
            }
        }.value
        return (ended, overtime)
    }

    /// Runs a part of the run within a limit.
    func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await performer.within(limit) { [thread] in
            try await withTaskExecutorPreference(thread) { try await work() }
        }
    }

    private func summary(
        of bundle: Bundle, _ run: LevelRun, _ record: RunRecord, started: Timestamp, took: Duration,
        timedOut: StepError?, isCancelled: Bool
    ) async -> RunSummary {
        var summary = RunSummary(
            id: journal.id, name: bundle.name, status: .ok, exit: .done, started: started, ended: started + took)
        summary.steps = record.updates
        let bad = bundle.allSteps.compactMap { run.outcomes[$0.id] }.first { $0.status == .failed && !$0.isForgiven }
        if isCancelled {
            (summary.status, summary.exit) = (.cancelled, .interrupted)
        } else if let timedOut {
            (summary.status, summary.exit, summary.error) = (.failed, .failed, timedOut)
        } else if let bad {
            (summary.status, summary.error) = (.failed, bad.error)
            summary.exit = ExitCode(rawValue: Int32(bad.exit))
        }
        for (name, template) in bundle.outputs {
            do throws(JSONTemplate.Problem) {
                summary.outputs.append(
                    name,
                    redactor.redact(try template.value(in: run.scope(for: template.expressions.map(\.expression)))))
            } catch {
                guard summary.status == .ok else { continue }
                let problem = bundle.source.problem(error.error.message, at: ["outputs", name] + error.path)
                (summary.status, summary.exit) = (.failed, .failed)
                summary.error = StepError(code: "bundle.expression", message: problem.text)
            }
        }
        do { try journal.end(summary) } catch {
            if record.isFirstLoss() {
                await emit(.notice(step: nil, "cannot write the journal: \(AnyFailure(error).message)"))
            }
        }
        await emit(.ended(summary))
        return summary
    }
}

/// Settings of a run.
public struct RunOptions: Sendable {
    /// How many actions run at once if the bundle does not specify it: the number of processors.
    public var parallel = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// The default timeout of an attempt of a step.
    public var stepLimit = Duration.seconds(30 * 60)
    /// The default timeout of a run.
    public var runLimit = Duration.seconds(6 * 3600)
    /// The timeout of all `finally` steps together.
    public var endLimit = Duration.seconds(10 * 60)
    /// The number of events that are kept of each step.
    public var eventsKept = 1_000

    /// The defaults, with the number of this machine's processors.
    public init() {}
}

/// Performs the actions of a run.
public protocol StepPerformer: Sendable {
    /// Performs an action with its arguments, within its limit and the rights of the bundle and the bundles around it.
    ///
    /// - Parameter step: the key of the step, or of the run of the step.
    func perform(
        _ action: String, _ arguments: JSONObject, step: String, output: any ActionOutput, limit: Duration,
        grant: Grant
    ) async throws -> JSON
    /// Does work within a limit, and throws a timeout error when it is over.
    func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value
}

/// The outcomes of the steps so far, for the report and for the `finally` steps after a stop.
final class RunRecord: Sendable {
    private let state = Mutex(State())

    private struct State {
        var updates: [StepUpdate] = []
        var outcomes: [String: StepOutcome] = [:]
        var hasLost = false
    }

    var updates: [StepUpdate] { state.withLock { $0.updates } }

    func outcome(of key: String) -> StepOutcome? { state.withLock { $0.outcomes[key] } }

    /// Whether this is the first failed write.
    func isFirstLoss() -> Bool { state.withLock { !exchange(&$0.hasLost, with: true) } }

    /// - Parameter outcome: with the secrets in its result, because `finally` steps may need them.
    func add(_ update: StepUpdate, _ outcome: StepOutcome) {
        state.withLock { state in
            state.outcomes[update.key] = outcome
            state.updates.append(update)
        }
    }
}
