import Bundles
import Capabilities
import FileKit
import JSON
import Registry
import RunReports
import Runs

/// Runs a bundle against what was recorded, and compares.
struct Replay {
    let running: BundleRunning
    let session: any ActionSession
    let recording: Recording

    init(running: BundleRunning, _ session: any ActionSession, _ recording: Recording) {
        self.running = running
        self.session = session
        self.recording = recording
    }

    func run() async throws -> ReplayReport {
        let host = running.context.host
        let finder = BundleFinder(host: host, trusted: running.context.registry.optional((any TrustedFiles).self))
        let source = try running.wish.bundle.map { try finder.find($0) } ?? BundleFinder.read(recording.file)
        let bundle = try Bundle(source)
        // A replay is no run that anybody looks for later, so that it has a journal of its own for as long as it lasts.
        try Files.makeDirectories(host.locations.cache)
        let path = "\(host.locations.cache)/replay-\(RunID.new(at: host.now())).db"
        let journal = Journal(path, now: host.now)
        defer { for file in [path, path + "-wal", path + "-shm"] where Files.exists(file) { Self.remove(file) } }
        let performer = ReplayPerformer(recording, session)
        let summary: RunSummary
        do {
            let run = try await journal.begin(bundle, inputs: recording.inputs)
            let environment = EnvironmentValues(recording, host.redactor)
            let started = recording.started ?? host.now()
            let facts: JSONObject = ["id": .string(run.id.text), "started": started.json, "failed": false]
            summary = try await running.perform(
                bundle, recording.inputs, performer, run, RunReporter(running.context, bundle),
                clock: ReplayClock(), now: { started }
            ) { bundle, inputs in
                let (values, problems) = await environment.values(for: bundle, inputs, run: facts)
                guard problems.isEmpty else { throw BundleFailure(problems) }
                return values
            }
        } catch {
            await journal.close()
            throw error
        }
        await journal.close()
        try RunDocuments(wish: running.wish, finder: finder).write(summary)
        var differences = Self.differences(
            of: summary.steps.map { RecordedStep($0).renamed(summary.id.text, recording.run) }, from: recording.steps)
        if source.digest != recording.digest, !differences.isEmpty {
            differences.insert("the bundle was changed since it was recorded", at: 0)
        }
        let text = differences.isEmpty ? ["the run is the recorded one"] : differences
        try await running.context.emit(
            ActionEvent(
                "replayed", ["differences": differences.json], text: text.map { $0 + "\n" }.joined()))
        return ReplayReport(differences: differences, summary: summary)
    }

    private static func remove(_ path: String) {
        // What stays behind lies in the folder for what may be thrown away.
        do { try Files.remove(path) } catch {}
    }

    /// What is not as it was, in sentences.
    static func differences(of steps: [RecordedStep], from recorded: [RecordedStep]) -> [String] {
        var open: [String: RecordedStep] = [:]
        for step in recorded { open["\(step.key) \(step.attempt)"] = step }
        var found: [String] = []
        for step in steps {
            guard let before = open.removeValue(forKey: "\(step.key) \(step.attempt)") else {
                found.append("\(step.key): was not in the recording")
                continue
            }
            if before.work != step.work {
                found.append("\(step.key): does \(step.work), and did \(before.work)")
            }
            if before.arguments != step.arguments {
                found.append("\(step.key): is given \(step.arguments.text()), and was given \(before.arguments.text())")
            }
            if before.status != step.status {
                found.append("\(step.key): is \(step.status.rawValue), and was \(before.status.rawValue)")
            }
        }
        for step in recorded where open["\(step.key) \(step.attempt)"] != nil {
            found.append("\(step.key): was in the recording, and did not run")
        }
        return found
    }
}

/// What came of a replay.
struct ReplayReport: Record {
    let differences: [String]
    let summary: RunSummary

    var exit: ExitCode { differences.isEmpty ? .done : .failed }

    static let fields: [Field<ReplayReport>] = [
        Field("same", "Whether the run is the recorded one") { $0.differences.isEmpty },
        Field("differences", "What is not as it was") { $0.differences },
        Field("run", "The run itself") { RunReport($0.summary) },
    ]
}
