import Bundles
import Capabilities
import JSON
import Registry
import RunReports
import Runs

/// Runs a bundle for an action: checks it first, does it, and writes what was asked for.
struct BundleRunning: Sendable {
    let services: RunnerServices
    let context: ActionContext
    let wish: RunWish
    private let interaction: any Interaction

    init(_ services: RunnerServices, _ context: ActionContext, _ wish: RunWish) {
        self.services = services
        self.context = context
        self.wish = wish
        // A run never waits for a person.
        interaction = context.interaction.unattended
    }

    private var host: Host { context.host }
    private var finder: BundleFinder {
        BundleFinder(host: host, trusted: context.registry.optional((any TrustedFiles).self))
    }

    func run() async throws -> RunResult {
        try wish.check()
        do { return try await checkedAndRun() } catch let failure as BundleFailure {
            throw failure.shown(from: host.locations.current)
        }
    }

    private func checkedAndRun() async throws -> RunResult {
        if let recording = wish.replay {
            return .replay(try await Replay(running: self, try Recording(finder.absolute(recording))).run())
        }
        // It takes as long as reading and checking the bundle do; what is wrong with it is told when it is used.
        async let _ = wish.isPlan || wish.isCheck || wish.isUnkept ? () : services.journal.open()
        let unfinished = wish.resume == nil ? nil : try await services.journal.unfinished(wish.resume)
        guard let name = wish.bundle ?? unfinished?.file else { throw RunnerError.noBundle }
        let library =
            if wish.bundle == nil, let unfinished {
                try finder.again(name, needsTrust: unfinished.needsTrust)
            } else {
                try finder.find(name)
            }
        let environment = EnvironmentValues(context)
        let (bundle, inputs) = try await check(
            library, before: unfinished?.inputs ?? [:], mustBe: unfinished?.digest, environment)
        if wish.isPlan || wish.isCheck { return try await plan(bundle, inputs, library) }
        let performer = RegistryPerformer(context: context, interaction: interaction)
        if wish.isUnkept {
            context.notice("nothing of this run is kept: it cannot be resumed, and 'martlet runs' does not know it")
        }
        guard let every = wish.every else {
            let journal =
                if let unfinished {
                    try await services.journal.resume(unfinished.id, again: wish.again)
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
        if wish.isUnkept { return .unkept(at: host.now()) }
        do {
            return try await services.journal.begin(
                bundle, digest: library.digest, inputs: inputs, needsTrust: library.needsTrust, alone: wish.isAlone,
                redactor: host.redactor)
        } catch {
            // What cannot be kept may still be run; another run that goes on, or a signal, is no matter of the journal.
            if error is RunError || error is CancellationError { throw error }
            throw RunnerError.journal(AnyFailure(error))
        }
    }

    // MARK: Before

    /// Everything that can be known before, and everything that is wrong at once.
    private func check(
        _ library: BundleLibrary, before: JSONObject, mustBe digest: String?, _ environment: EnvironmentValues
    ) async throws -> (Bundle, JSONObject) {
        let (bundle, wrong) = Bundle.reading(library.root)
        let checked = BundleCheck.check(
            bundle, wrong, within: context.caller.grant, in: RegistrySurroundings(host: host, library: library))
        if let path = library.untrusted { throw RunnerError.notTrusted(path) }
        if let digest, digest != library.digest { throw RunError.changed(library.root.file) }
        var problems = checked.problems
        let given = GivenInputs(words: wish.inputs, file: wish.inputsFile)
        let inputs = try await given.values(for: bundle, before: before, host, finder)
        problems += inputs.problems
        let known = inputs.problems.isEmpty ? inputs.values : nil
        problems += await environment.values(for: bundle, within: checked.grant, known, run: Self.unknownRun)
            .problems
        // What a bundle inside of it is given is known only later, but not what it takes from its surroundings.
        for (inner, grant) in checked.inner {
            problems += await environment.values(for: inner, within: grant, nil, run: Self.unknownRun).problems
        }
        guard problems.isEmpty else { throw BundleFailure(problems) }
        return (bundle, inputs.values)
    }

    private static let unknownRun: JSONObject = ["id": "", "started": "", "failed": false]

    private func plan(_ bundle: Bundle, _ inputs: JSONObject, _ library: BundleLibrary) async throws -> RunResult {
        let surroundings = RegistrySurroundings(host: host, library: library)
        let reachable = Reachable(of: bundle, in: surroundings.reach)
        if wish.isCheck {
            let text = context.isQuiet ? nil : "\(bundle.name) can be run\n\n" + PlanText.text(reachable)
            try await context.emit(ActionEvent("checked", ["reach": reachable.json], text: text))
            return .plan([])
        }
        let plan = Plan(of: bundle, inputs: inputs, in: surroundings)
        let text = PlanText.text(plan, bundle) + (context.isQuiet ? "" : "\n" + PlanText.text(reachable))
        try await context.emit(ActionEvent("planned", ["steps": plan.steps.json, "reach": reachable.json], text: text))
        return .plan(plan.steps)
    }

    // MARK: The run

    private func run(
        _ bundle: Bundle, _ inputs: JSONObject, _ library: BundleLibrary, _ environment: EnvironmentValues,
        _ performer: RegistryPerformer, _ journal: JournalRun
    ) async throws -> RunReport {
        let run: JSONObject = ["id": .string(journal.id.text), "started": host.now().json, "failed": false]
        let recording = try wish.record.map { path in
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
        try RunDocuments(wish: wish, finder: finder).write(summary)
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
