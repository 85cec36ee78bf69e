import Bundles
import Capabilities
import JSON
import Registry
import RunReports
import Runs

/// Reports the events of a run to whoever watches it, the output and a recording.
final class RunReporter: Sendable {
    private let context: ActionContext
    private let bundle: Bundle
    private let recording: RecordingWriter?
    /// The tree that is shown; nil if nobody sees it.
    private let tree: ShownTree?
    private let isGitHub: Bool
    /// The events on their way to their reader. A step does not wait while it keeps up; a slow reader delays the run.
    private let events = Channel<RunEvent>(limit: RunReporter.mostUnread)
    /// The steps of the bundle itself, by id.
    private let steps: [String: Step]

    private static let mostUnread = 256
    /// How long the reader of many events waits for more of them.
    private static let gathering = Duration.milliseconds(2)

    init(_ context: ActionContext, _ bundle: Bundle, recording: RecordingWriter? = nil) {
        self.context = context
        self.bundle = bundle
        self.recording = recording
        isGitHub = GitHubReport.isWanted(context.host.environment)
        steps = Dictionary(bundle.allSteps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        tree = context.showsBlocks ? ShownTree(context) : nil
    }

    /// Does the work of a run and reports its events. All events are reported when this returns.
    func during<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        // Both tasks are awaited below. Events are reported even if the run was cancelled.
        let telling = Task { await tellAll() }
        let showing = tree.map { tree in Task { await tree.run() } }
        let result: Result<Value, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        events.finish()
        await telling.value
        showing?.cancel()
        await showing?.value
        tree?.finish()
        return try result.get()
    }

    func receive(_ event: RunEvent) async { await events.send([event]) }

    /// Tells the events in order, until the end.
    private func tellAll() async {
        var count = 0
        while let batch = await events.next() {
            await tell(batch)
            count += batch.count
            // In a long run, waking up for each event costs more than most steps. A short run is not delayed.
            guard count > Self.mostUnread else { continue }
            do { try await ContinuousClock().sleep(for: Self.gathering) } catch {
                // Cancelled. The end of the run follows anyway.
            }
        }
    }

    private func tell(_ events: [RunEvent]) async {
        for event in events {
            tree?.receive(event)
            recording?.receive(event)
            if case .ended = event { tree?.finish() }
        }
        // A run does not depend on its reader: it goes on, and its result says that the output is gone.
        do { try await context.emit(events.map { $0.action(text: text($0)) }) } catch {}
    }

    private func text(_ event: RunEvent) -> String? {
        var lines: [String] = []
        if tree == nil, !context.isQuiet {
            if let line = PlainProgress.line(event) { lines.append(line) }
        } else if case .ended(let summary) = event, !context.isQuiet || summary.exit != .done {
            lines.append(PlainProgress.end(summary))
        }
        if case .ended(let summary) = event, !context.isQuiet {
            let outputs = PlainProgress.outputs(summary)
            lines += isGitHub && !outputs.isEmpty ? GitHubReport.withoutCommands(outputs) : outputs
        }
        if isGitHub, let annotation = annotation(event) { lines.append(annotation) }
        return lines.isEmpty ? nil : lines.map { $0 + "\n" }.joined()
    }

    private func annotation(_ event: RunEvent) -> String? {
        guard case .step(let update) = event, update.outcome.status == .failed, !update.triesAgain,
            !update.isRestored, let error = update.outcome.error
        else { return nil }
        let id = String(update.key.prefix { $0 != "[" && $0 != "/" })
        let path = steps[id].map { $0.path + [$0.work.isAction ? "action" : "bundle"] } ?? []
        let place = bundle.source.problem("", at: path)
        let folder = (context.host.environment["GITHUB_WORKSPACE"] ?? context.host.locations.current) + "/"
        let file = place.file.hasPrefix(folder) ? String(place.file.dropFirst(folder.count)) : place.file
        return GitHubReport.annotation(
            update.outcome.isForgiven ? .warning : .error, file: file, line: place.line, column: place.column,
            title: update.key, error.message)
    }
}

extension Step.Work {
    fileprivate var isAction: Bool { if case .action = self { true } else { false } }
}
