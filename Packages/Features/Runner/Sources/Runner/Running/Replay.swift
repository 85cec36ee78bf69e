import Bundles
import Capabilities
import JSON
import Registry
import RunReports
import Runs
import Synchronization

/// Runs a bundle against a recording, and compares.
struct Replay {
    static let outcome = EventKind<[String]>(
        "replayed", "The replay has ended", [Field("differences", "Differences from the recording") { $0 }])

    let running: BundleRunner
    let recording: Recording

    init(running: BundleRunner, _ recording: Recording) {
        self.running = running
        self.recording = recording
    }

    func run() async throws -> ReplayReport {
        let host = running.context.host
        let finder = BundleFinder(host: host, trusted: running.context.registry.optional((any TrustedFiles).self))
        let library =
            try running.request.bundle.map { try finder.find($0) }
            ?? BundleLibrary(try BundleFinder.read(recording.file), .person)
        let bundle = try Bundle(library.root)
        let performer = ReplayPerformer(recording, running.context)
        // A replay is not saved as a run.
        let run = JournalRun.unkept(at: host.now())
        let environment = EnvironmentValues(recording, host.redactor)
        let started = recording.started ?? host.now()
        let facts: JSONObject = ["id": .string(run.id.text), "started": started.json, "failed": false]
        let summary = try await running.perform(
            bundle, recording.inputs, library, performer, run, RunReporter(running.context, bundle),
            clock: ReplayClock(), now: { started }
        ) { bundle, inputs, _ in
            let (values, problems) = await environment.values(for: bundle, within: .person, inputs, run: facts)
            guard problems.isEmpty else { throw BundleFailure(problems) }
            return values
        }
        try RunDocuments(request: running.request, finder: finder).write(summary)
        var differences = Self.differences(
            of: summary.steps.map { RecordedStep($0).renamed(summary.id.text, recording.run) }, from: recording.steps)
        if library.root.digest != recording.digest, !differences.isEmpty {
            differences.insert("the bundle changed since it was recorded", at: 0)
        }
        let text = differences.isEmpty ? ["the run matches the recording"] : differences
        try await running.context.emit(
            Self.outcome.event(differences, text: text.map { $0 + "\n" }.joined()))
        return ReplayReport(differences: differences, summary: summary)
    }

    /// The differences, as sentences.
    static func differences(of steps: [RecordedStep], from recorded: [RecordedStep]) -> [String] {
        var open: [String: RecordedStep] = [:]
        for step in recorded { open["\(step.key) \(step.attempt)"] = step }
        var found: [String] = []
        for step in steps {
            guard let before = open.removeValue(forKey: "\(step.key) \(step.attempt)") else {
                found.append("\(step.key): not in the recording")
                continue
            }
            if before.work != step.work {
                found.append("\(step.key): runs \(step.work), recorded \(before.work)")
            }
            if before.arguments != step.arguments {
                found.append("\(step.key): given \(step.arguments.text()), recorded \(before.arguments.text())")
            }
            if before.status != step.status {
                found.append("\(step.key): \(step.status.rawValue), recorded \(before.status.rawValue)")
            }
        }
        for step in recorded where open["\(step.key) \(step.attempt)"] != nil {
            found.append("\(step.key): in the recording, but did not run")
        }
        return found
    }
}

/// The result of a replay.
struct ReplayReport: Record {
    let differences: [String]
    let summary: RunSummary

    var exit: ExitCode { differences.isEmpty ? .done : .failed }

    static let fields: [Field<ReplayReport>] = [
        Field("same", "Whether the run matches the recording") { $0.differences.isEmpty },
        Field("differences", "Differences from the recording") { $0.differences },
        Field("run", "The replayed run") { RunReport($0.summary) },
    ]
}

/// Returns the recorded result of each action, and runs none.
final class ReplayPerformer: StepPerformer {
    private let context: ActionContext
    /// The remaining attempts of each step, the last one first.
    private let calls: Mutex<[String: [RecordedStep]]>

    init(_ recording: Recording, _ context: ActionContext) {
        self.context = context
        var calls: [String: [RecordedStep]] = [:]
        for step in recording.steps.reversed() where step.status == .ok || step.status == .failed {
            calls[step.key, default: []].append(step)
        }
        self.calls = Mutex(calls)
    }

    func perform(
        _ action: String, _ arguments: JSONObject, step: String, output: any ActionOutput, limit: Duration,
        grant: Grant
    ) async throws -> JSON {
        guard let call = calls.withLock({ $0[step]?.popLast() }) else { throw RunnerError.notRecorded(step) }
        for event in call.events {
            var fields = event.object ?? [:]
            fields["type"] = nil
            try await output.event(ActionEvent(event["type"]?.string ?? "event", fields))
        }
        guard let error = call.error else { return call.result }
        throw RunnerError.replayed(
            code: error.code, message: error.message, ExitCode(rawValue: Int32(call.exit)), result: call.result)
    }

    func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await context.within(limit, work)
    }
}

/// The clock of a replay. A sleep does not wait but moves the clock ahead, because all waiting is already recorded.
final class ReplayClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private let base = ContinuousClock()
    /// How far the clock was moved ahead.
    private let ahead = Mutex(Duration.zero)

    var now: Instant { base.now + ahead.withLock { $0 } }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        ahead.withLock { $0 = max($0, base.now.duration(to: deadline)) }
    }
}
