import Bundles
import Capabilities
import JSON
import Registry
import RunReports
import Runs
import Synchronization
import TerminalKit

/// Tells what happens in a run: to the terminal, to whoever reads the output, to a recording.
final class RunReporter: Sendable {
    private let context: ActionContext
    private let bundle: Bundle
    private let recording: RecordingWriter?
    private let live: LiveProgress?
    private let isGitHub: Bool
    private let relay = EventRelay()
    /// The steps of the bundle itself, by their ids.
    private let steps: [String: Step]

    init(_ context: ActionContext, _ bundle: Bundle, recording: RecordingWriter? = nil) {
        self.context = context
        self.bundle = bundle
        self.recording = recording
        isGitHub = GitHubReport.isWanted(context.host.environment)
        steps = Dictionary(bundle.allSteps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        guard context.isWatched else {
            live = nil
            return
        }
        let environment = context.host.environment
        let terminal = Terminal(fileDescriptor: 2)
        live = LiveProgress(
            level: context.isColored ? .detect(choice: .always, isTerminal: true, environment: environment) : .none,
            theme: context.isColored ? Theme.chosen?() ?? .terminal : .plain,
            clock: ContinuousClock(),
            size: { terminal.size(environment: environment) }, write: TerminalOutput.write)
    }

    /// Does a run, and tells meanwhile what happens in it. All of it is told when this returns.
    func during<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        // Both are awaited below. What happened is told also when the run was cancelled.
        let telling = Task { await relay.run { await tell($0) } }
        let drawing = live.map { live in Task { await live.run() } }
        let result: Result<Value, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        relay.end()
        await telling.value
        drawing?.cancel()
        await drawing?.value
        live?.finish()
        return try result.get()
    }

    func receive(_ event: RunEvent) async { await relay.put(event) }

    private func tell(_ events: [RunEvent]) async {
        for event in events {
            live?.receive(event)
            recording?.receive(event)
            if case .ended = event { live?.finish() }
        }
        // A run is no hostage of who reads about it: it goes on, and its result says that the output is gone.
        do { try await context.emit(events.map { $0.action(text: text($0)) }) } catch {}
    }

    private func text(_ event: RunEvent) -> String? {
        var lines: [String] = []
        if live == nil, !context.isQuiet {
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

/// Hands the events of a run to whoever reads them, as many at a time as have come, so that no step waits for a reader
/// who keeps up. One who does not makes the run wait, for only so many are held.
final class EventRelay: Sendable {
    private struct State {
        var events: [RunEvent] = []
        var isEnded = false
        var reader: CheckedContinuation<Void, Never>?
        var writers: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int = 256) {
        self.limit = limit
    }

    /// Adds an event, and waits while there are too many. After the end nobody is told any more.
    func put(_ event: RunEvent) async {
        let (isFull, reader) = state.withLock { state in
            if state.isEnded { return (false, nil as CheckedContinuation<Void, Never>?) }
            state.events.append(event)
            return (state.events.count >= limit, exchange(&state.reader, with: nil))
        }
        reader?.resume()
        guard isFull else { return }
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.events.count >= limit { state.writers.append(continuation) }
                return state.events.count < limit
            }
            if hasRoom { continuation.resume() }
        }
    }

    /// No more events come.
    func end() {
        let reader = state.withLock { state in
            state.isEnded = true
            return exchange(&state.reader, with: nil)
        }
        reader?.resume()
    }

    /// How long a reader of many events lets more of them come together.
    private static let gathering = Duration.milliseconds(2)

    /// Gives the events to `receive` in their order until the end.
    func run(_ receive: ([RunEvent]) async -> Void) async {
        var count = 0
        while let events = await next() {
            await receive(events)
            count += events.count
            // To be woken for each event of a long run costs more than most of its steps. A short run is not held up.
            guard count > limit else { continue }
            do { try await ContinuousClock().sleep(for: Self.gathering) } catch {
                // Cancelled, which the end of the run tells as well.
            }
        }
    }

    /// Those that are there, or come next; nil after the last.
    private func next() async -> [RunEvent]? {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.events.isEmpty, !state.isEnded { state.reader = continuation }
                return state.reader == nil
            }
            if isReady { continuation.resume() }
        }
        let (events, writers) = state.withLock { state in
            defer { (state.events, state.writers) = ([], []) }
            return (state.events, state.writers)
        }
        for writer in writers { writer.resume() }
        return events.isEmpty ? nil : events
    }
}
