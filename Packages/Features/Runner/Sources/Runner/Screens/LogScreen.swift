import Capabilities
import JSON
import Registry
import Runs
import Screens

/// The screen of the output of a run, or of one of its steps. It follows while the run is running.
struct LogScreen {
    private let services: RunnerServices

    init(_ services: RunnerServices) { self.services = services }

    /// How many of the newest events are read at first.
    private static let mostEvents = 10_000

    func add(to registry: inout RegistryBuilder) {
        registry.add(
            Screen("runs.log", "Output of a run", .detail, RunsActions.run(), RunsActions.step) { screen, name, step in
                let id = try await services.journal.find(name).id
                var log = LogLines(isOfOneStep: step != nil)
                var (next, omitted, isRunning) = (0, 0, false)
                repeat {
                    // Read before the events, so that nothing follows when it has ended.
                    let run = try await services.journal.find(id)
                    isRunning = run.isRunning
                    let events = try await services.journal.events(
                        of: id, step: step, from: next, limit: next == 0 ? Self.mostEvents : nil)
                    // A step may not have begun while its run is running.
                    if let step, !isRunning, events.isEmpty, next == 0 {
                        try await RunsActions(services).requireStep(step, of: run)
                    }
                    if next == 0, events.count == Self.mostEvents {
                        omitted = try await services.journal.eventCount(of: id, step: step, before: events[0].number)
                    }
                    log.append(events)
                    if let last = events.last { next = last.number + 1 }
                    try await screen.show(Self.block(log, run, step, omitted: omitted))
                } while try await screen.changed(orAfter: isRunning ? RunScreen.interval : nil)
            }
            .details("The output of a step is there when the step has ended."))
    }

    /// - Parameter omitted: how many older events were not read.
    private static func block(_ log: LogLines, _ run: RunRow, _ step: String?, omitted: Int) -> Block {
        let argument: [String: Link.Argument] = ["run": .value(.string(run.id))]
        var links: [Link] = [.screen("runs.run", "Run", key: "r", argument)]
        if run.isRunning { links.append(.action("runs.cancel", "Cancel", key: "c", argument)) }
        var blocks: [Block] = []
        if omitted > 0 {
            let which = step.map { " --step \($0)" } ?? ""
            let count = omitted == 1 ? "1 older event is" : "\(omitted) older events are"
            let text = "\(count) not shown here; 'martlet runs logs \(run.id)\(which)' shows all."
            blocks.append(Block(.text(RichText(text, .mutedForeground)), id: "omission"))
        }
        blocks.append(Block(.log(Log(log.feed))))
        if log.feed.end == 0 {
            let what = step.map { "the step \($0) has" } ?? "no step has"
            let message =
                run.isRunning
                ? "\(what) no output yet; it is shown when the step has ended"
                : step == nil ? "no step has output" : "\(what) no output"
            blocks.append(
                Block(.placeholder(Placeholder(run.isRunning ? .loading : .empty, message))))
        }
        return Block(
            .stack(Stack(blocks)), id: "output", title: step.map { "\(run.name): \($0)" } ?? run.name, links: links)
    }
}

/// Turns the output of steps into lines.
struct LogLines {
    /// The lines.
    let feed = Feed<Log.Line>()
    private let isOfOneStep: Bool
    /// The step of the newest line.
    private var step: String?
    /// The newest line, while more of it may come.
    private var open: Log.Line?

    /// - Parameter isOfOneStep: whether the step need not be named.
    init(isOfOneStep: Bool) { self.isOfOneStep = isOfOneStep }

    /// Adds the lines of events.
    mutating func append(_ events: [JournalEvent]) {
        // Otherwise the newest line would be replaced by itself, which is news for whoever shows it.
        guard !events.isEmpty else { return }
        // With the newest line of the feed, if it goes on here.
        var lines = open.map { [$0] } ?? []
        var isOpen = open != nil
        for event in events {
            guard let (text, isPiece) = LogText.words(event.event) else { continue }
            if step != event.step {
                step = event.step
                isOpen = false
                if !isOfOneStep { lines.append(Log.Line(event.step, time: event.time)) }
            }
            if !isPiece { isOpen = false }
            var parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let isEnded = parts.last?.isEmpty == true
            if isEnded { parts.removeLast() }
            for (number, part) in parts.enumerated() {
                if number == 0, isOpen, let before = lines.popLast() {
                    lines.append(Log.Line(before.text + part, time: before.time, state: before.state))
                } else {
                    let isError = event.event["is_error"]?.bool == true
                    lines.append(Log.Line(part, time: event.time, state: isError ? "error" : nil))
                }
            }
            isOpen = isPiece && !isEnded
        }
        if let open, let first = lines.first {
            if first != open { feed.replaceLast(with: first) }
            feed.append(Array(lines.dropFirst()))
        } else {
            feed.append(lines)
        }
        open = isOpen ? lines.last : nil
    }
}
