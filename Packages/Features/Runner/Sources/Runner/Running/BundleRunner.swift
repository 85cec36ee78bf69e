import Bundles
import Capabilities
import FileKit
import JSON
import Registry
import RunReports
import Runs
import TerminalKit

/// Runs a bundle for an action: checks it, runs it and writes the requested reports.
struct BundleRunner: Sendable {
    let services: RunnerServices
    let context: ActionContext
    let request: RunRequest
    private let interaction: any Interaction

    init(_ services: RunnerServices, _ context: ActionContext, _ request: RunRequest) {
        self.services = services
        self.context = context
        self.request = request
        // A run never asks a person.
        interaction = context.interaction.unattended
    }

    private var host: Host { context.host }
    private var finder: BundleFinder {
        BundleFinder(host: host, trusted: context.registry.optional((any TrustedFiles).self))
    }

    func run() async throws -> RunResult {
        try request.check()
        do { return try await checkedAndRun() } catch let failure as BundleFailure {
            throw failure.shown(from: host.locations.current)
        }
    }

    private func checkedAndRun() async throws -> RunResult {
        if let recording = request.replay {
            return .replay(try await Replay(running: self, try Recording(finder.absolute(recording))).run())
        }
        // Opening takes as long as reading and checking the bundle. Its errors are reported when the journal is used.
        async let _ = request.isPlan || request.isCheck || request.isUnkept ? () : services.journal.open()
        let unfinished = request.resume == nil ? nil : try await services.journal.unfinished(request.resume)
        guard let name = request.bundle ?? unfinished?.file else { throw RunnerError.noBundle }
        let library =
            if request.bundle == nil, let unfinished {
                try finder.again(name, needsTrust: unfinished.needsTrust)
            } else {
                try finder.find(name)
            }
        let environment = EnvironmentValues(context)
        let (bundle, inputs) = try await check(
            library, before: unfinished?.inputs ?? [:], mustBe: unfinished?.digest, environment)
        if request.isPlan || request.isCheck { return try await plan(bundle, inputs, library) }
        let performer = RegistryPerformer(context: context, interaction: interaction)
        if request.isUnkept {
            context.notice("this run is not saved: it cannot be resumed, and 'martlet runs' does not show it")
        }
        guard let every = request.every else {
            let journal =
                if let unfinished {
                    try await services.journal.resume(unfinished.id, again: request.again)
                } else { try await begin(bundle, inputs, library) }
            return .report(try await run(bundle, inputs, library, environment, performer, journal))
        }
        return .report(
            try await Repetition(every: every, clock: host.clock).run {
                return try await run(
                    bundle, inputs, library, environment, performer, try await begin(bundle, inputs, library))
            })
    }

    private func begin(_ bundle: Bundle, _ inputs: JSONObject, _ library: BundleLibrary) async throws -> JournalRun {
        if request.isUnkept { return .unkept(at: host.now()) }
        do {
            return try await services.journal.begin(
                bundle, digest: library.digest, inputs: inputs, needsTrust: library.needsTrust, alone: request.isAlone,
                redactor: host.redactor)
        } catch {
            // A run that cannot be saved may still run. An overlapping run or a signal is not a journal error.
            if error is RunError || error is CancellationError { throw error }
            throw RunnerError.journal(AnyFailure(error))
        }
    }

    // MARK: Checking

    /// Checks everything that is known before the run, and reports all problems at once.
    private func check(
        _ library: BundleLibrary, before: JSONObject, mustBe digest: String?, _ environment: EnvironmentValues
    ) async throws -> (Bundle, JSONObject) {
        let (bundle, wrong) = Bundle.reading(library.root)
        let checked = BundleCheck.check(
            bundle, wrong, within: context.caller.grant, in: RegistrySurroundings(host: host, library: library))
        if let path = library.untrusted { throw RunnerError.notTrusted(path) }
        if let digest, digest != library.digest { throw RunError.changed(library.root.file) }
        var problems = checked.problems
        let given = GivenInputs(words: request.inputs, file: request.inputsFile)
        let inputs = try await given.values(for: bundle, before: before, host, finder)
        problems += inputs.problems
        let known = inputs.problems.isEmpty ? inputs.values : nil
        problems += await environment.values(for: bundle, within: checked.grant, known, run: Self.unknownRun)
            .problems
        // The inputs of an inner bundle are known only during the run, but its secrets and variables are checked now.
        for (inner, grant) in checked.inner {
            problems += await environment.values(for: inner, within: grant, nil, run: Self.unknownRun).problems
        }
        guard problems.isEmpty else { throw BundleFailure(problems) }
        return (bundle, inputs.values)
    }

    private static let unknownRun: JSONObject = ["id": "", "started": "", "failed": false]

    private static let checked = EventKind<Reachable>(
        "checked", "The bundle is valid", [Field("reach", "What the bundle can reach") { $0 }])
    private static let planned = EventKind<(steps: [PlannedStep], reach: Reachable)>(
        "planned", "What would run",
        [Field("steps", "The steps") { $0.steps }, Field("reach", "What the bundle can reach") { $0.reach }])

    /// What `--check` and `--plan` send.
    static var eventsOfChecks: [EventDeclaration] { [checked.declaration, planned.declaration] }

    private func plan(_ bundle: Bundle, _ inputs: JSONObject, _ library: BundleLibrary) async throws -> RunResult {
        let surroundings = RegistrySurroundings(host: host, library: library)
        let reachable = Reachable(of: bundle, in: surroundings.reach)
        if request.isCheck {
            let text = context.isQuiet ? nil : "\(bundle.name) is valid\n\n" + PlanText.text(reachable)
            try await context.emit(Self.checked.event(reachable, text: text))
            return .plan([])
        }
        let plan = Plan(of: bundle, inputs: inputs, in: surroundings)
        let text = PlanText.text(plan, bundle) + (context.isQuiet ? "" : "\n" + PlanText.text(reachable))
        try await context.emit(Self.planned.event((plan.steps, reachable), text: text))
        return .plan(plan.steps)
    }

    // MARK: The run

    private func run(
        _ bundle: Bundle, _ inputs: JSONObject, _ library: BundleLibrary, _ environment: EnvironmentValues,
        _ performer: RegistryPerformer, _ journal: JournalRun
    ) async throws -> RunReport {
        let run: JSONObject = ["id": .string(journal.id.text), "started": host.now().json, "failed": false]
        let recording = try request.record.map { path in
            try RecordingWriter(finder.absolute(path), bundle, inputs: inputs, host.redactor, at: host.now())
        }
        let reporter = RunReporter(context, bundle, recording: recording)
        let summary = try await perform(
            bundle, inputs, library, performer, journal, reporter, clock: host.clock, now: host.now
        ) { bundle, inputs, grant in
            let (values, problems) = await environment.values(
                for: bundle, within: grant, inputs, run: run, recording: recording)
            guard problems.isEmpty else { throw BundleFailure(problems) }
            return values
        }
        try recording?.check()
        try RunDocuments(request: request, finder: finder).write(summary)
        return RunReport(summary)
    }

    func perform(
        _ bundle: Bundle, _ inputs: JSONObject, _ library: BundleLibrary, _ performer: any StepPerformer,
        _ journal: JournalRun, _ reporter: RunReporter, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp,
        environment: @escaping @Sendable (Bundle, JSONObject, Grant) async throws -> JSONObject
    ) async throws -> RunSummary {
        let engine = RunEngine(
            performer: performer, journal: journal, options: RunOptions(), redactor: host.redactor, clock: clock,
            now: now, reach: library.reach(host),
            loadBundle: { path, file throws(BundleFailure) in try library.bundle(path, besides: file) },
            environment: environment, emit: { await reporter.receive($0) })
        return try await reporter.during { try await engine.run(bundle, inputs: inputs) }
    }
}

/// Runs the actions of a run through the registry, within the permissions of the bundle.
struct RegistryPerformer: StepPerformer {
    /// The context of the run, so that steps use the composition that the bundle was checked against.
    let context: ActionContext
    /// Never asks.
    let interaction: any Interaction

    func perform(
        _ name: String, _ arguments: JSONObject, step: String, output: any ActionOutput, limit: Duration,
        grant: Grant
    ) async throws -> JSON {
        let action = try context.registry.actions.find(name)
        guard action.id != RunAction.id else { throw RunnerError.runsItself }
        let value = try await timed(limit) {
            // The bundle's permissions already agree to destroying, or the action is refused there.
            try await context.perform(
                action, arguments, narrowedBy: grant, asking: interaction, output: output, limit: limit, isAgreed: true)
        }
        guard value.exit == .done else { throw RunnerError.ended(action: action.id, value.exit, result: value.json) }
        return value.json
    }

    func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await timed(limit) { try await context.within(limit, work) }
    }

    /// The limit comes from the bundle, so the error names the step's timeout.
    private func timed<Value>(_ limit: Duration, _ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let error as any Failure where error.code == "host.timed-out" {
            throw RunnerError.timedOut(limit)
        }
    }
}

/// Repeats work at multiples of an interval from the first start. Runs never overlap.
struct Repetition: Sendable {
    let every: Duration
    let clock: any Clock<Duration>

    /// Repeats until the task is cancelled, and returns the last result.
    func run<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        let stopwatch = Stopwatch(clock)
        while true {
            let value = try await work()
            if Task.isCancelled { return value }
            // Work that takes longer than the interval skips the starts that it missed.
            let rounds = (stopwatch.time() / every).rounded(.down) + 1
            let wait = every * rounds - stopwatch.time()
            do { try await clock.sleep(for: max(wait, .zero)) } catch { return value }
        }
    }
}

/// Writes the requested reports.
struct RunDocuments {
    let request: RunRequest
    let finder: BundleFinder

    func write(_ summary: RunSummary) throws {
        if let path = request.junit { try write(JUnitReport.text(summary), to: path) }
        if let path = request.html { try write(HTMLReport.text(summary), to: path) }
        if let path = request.report { try write(RunReport(summary).json.text(.pretty) + "\n", to: path) }
        let environment = finder.host.environment
        if GitHubReport.isWanted(environment), let path = environment["GITHUB_STEP_SUMMARY"], !path.isEmpty {
            let file = try LineFile(path, isNew: false)
            file.write(GitHubReport.summary(summary))
            try file.check()
        }
    }

    private func write(_ text: String, to path: String) throws {
        let path = finder.absolute(path)
        try Files.makeDirectories(PathParts(path).folder, mode: 0o755)
        try Files.writeAtomically(Array(text.utf8), to: path, mode: 0o644)
    }
}

/// Formats a plan for a person.
enum PlanText {
    static func text(_ plan: Plan, _ bundle: Bundle) -> String {
        var table = Table(["STEP", "DOES", "EFFECT", "RUNS", "NEEDS", "IF"].map { TableColumn($0) })
        for step in plan.steps {
            table.append([
                StyledText(step.id), StyledText(step.work), StyledText(Self.effect(of: step)),
                StyledText(step.runs.map(String.init) ?? "?"), StyledText(step.needs.joined(separator: ", ")),
                StyledText(step.condition ?? (step.isLast ? "always" : "")),
            ])
        }
        return "\(bundle.name)\n" + table.lines(width: nil).map { $0.plainText + "\n" }.joined()
    }

    private static func effect(of step: PlannedStep) -> String {
        [step.effect?.rawValue, step.sends ? "sends" : nil].compactMap(\.self).joined(separator: ", ")
    }

    /// What the bundle can reach, one line each.
    static func text(_ reachable: Reachable) -> String {
        func list(_ words: [String]) -> String {
            words.isEmpty ? "none" : words.map { PlainText.escape($0) }.joined(separator: ", ")
        }
        let effects =
            switch reachable.effects {
            case .reads: "reading actions"
            case .writes: "reading and writing actions"
            case .destroys: "reading, writing and destroying actions"
            }
        let actions = reachable.actions.isEmpty ? "" : ", and \(list(reachable.actions))"
        let limits = [
            reachable.calls.map { "\($0) actions and tool calls" }, reachable.time.map { "begun within \($0.words)" },
        ].compactMap(\.self).joined(separator: ", ")
        var table = Table([TableColumn(""), TableColumn("")], showsHeader: false)
        for (name, words) in [
            ("may run", effects + actions), ("servers", list(reachable.servers)),
            ("folders", list(reachable.folders)), ("secrets", list(reachable.secrets)),
            ("variables", list(reachable.variables)), ("programs", list(reachable.programs)),
            ("allowed tools", list(reachable.tools)), ("limits", limits.isEmpty ? "none" : limits),
        ] {
            table.append([StyledText(name), StyledText(words)])
        }
        return table.lines(width: nil).map { $0.plainText + "\n" }.joined()
    }
}
