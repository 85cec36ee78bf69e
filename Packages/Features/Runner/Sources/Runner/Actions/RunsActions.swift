import Capabilities
import FileKit
import JSON
import LoopKit
import ProcessKit
import Registry
import Runs

/// `martlet runs`: earlier runs, and runs that are running.
struct RunsActions {
    let services: RunnerServices

    init(_ services: RunnerServices) {
        self.services = services
    }

    var all: [Action] { [list, show, logs, cancel, prune] }

    static func run() -> Parameter<String?> {
        .argument(
            "run", "Id of the run, or the beginning of it; default: the last run", as: String?.self,
            completion: RunCompletion.runs)
    }

    static let step: Parameter<String?> = .option(
        "step", "Only this step", as: String?.self, completion: RunCompletion.steps)

    private var list: Action {
        Action(
            "runs.list", "List the newest runs", .reads,
            .option("limit", "Maximum number of runs", in: 1...10_000, default: 20),
            .option("name", "Only runs of this bundle", as: String?.self, completion: RunCompletion.namesOfRuns)
        ) { context, limit, name in
            let rows = try await services.journal.runs(limit: limit, name: name)
            if rows.isEmpty {
                let which = name.map { " of \(PlainText.escape($0))" } ?? ""
                context.notice("there are no saved runs\(which); 'martlet run FILE' runs a bundle")
            }
            return rows
        }
        .asDefault()
    }

    private var show: Action {
        Action("runs.show", "Show a run and its steps", .reads, Self.run()) { context, id in
            let row = try await services.journal.find(id)
            let (outputs, error) = try await services.journal.ending(of: row.id)
            return RunDetail(
                run: row, error: error, outputs: outputs, steps: try await services.journal.steps(of: row.id))
        }
        .example("martlet runs show", "Show the last run")
    }

    private var logs: Action {
        Action(
            "runs.logs", "Show the output of a run's steps", .reads, Self.run(),
            Self.step
        ) { context, id, step in
            let row = try await services.journal.find(id)
            let events = try await services.journal.events(of: row.id, step: step)
            if events.isEmpty {
                if let step { try await requireStep(step, of: row) }
                context.notice(step.map { "the step \($0) has no output" } ?? "no step has output")
            }
            var text = LogText()
            for event in events {
                let words = context.isWatched ? LocalTime.words(event.time) : event.time.iso8601
                try await context.emit(
                    Self.output.event(event, text: text.take(event, at: words)))
            }
            return events
        }
        .streaming([Self.output.declaration])
    }

    /// Throws unless the step has started.
    func requireStep(_ step: String, of run: RunRow) async throws {
        let steps = try await services.journal.steps(of: run.id).map(\.key)
        guard !steps.contains(step) else { return }
        throw RunnerError.options(
            "the run \(run.id) has no step '\(PlainText.escape(step))'\(Suggestion.text(for: step, among: steps)); "
                + "'martlet runs show \(run.id)' shows its steps")
    }

    private static let output = EventKind<JournalEvent>("step_output", "Output of a step's action")

    private var cancel: Action {
        Action(
            "runs.cancel", "Cancel a run", .writes, Self.run(),
            .option("within", "How long to wait for the run to end", default: Duration.seconds(30))
        ) { context, id, limit in
            let row = try await services.journal.find(id)
            guard let holder = try await services.journal.holder(of: row.id) else {
                throw RunnerError.notRunning(row.id)
            }
            let loop = EventLoop()
            defer { loop.stop() }
            // Checked again while the process is held, because its number may have been reused.
            guard let process = try OtherProcess(holder, loop: loop),
                try await services.journal.holder(of: row.id) == holder, try process.send(.terminate)
            else { throw RunnerError.notRunning(row.id) }
            context.progress("waiting for the run to end")
            guard try await process.ended(by: .now + limit) else { throw RunnerError.cannotStop(row.id) }
            return try await services.journal.find(row.id)
        }
        .details("Running steps are cancelled, but the 'finally' steps still run. 'run --resume' can resume the run.")
    }

    private static let longAgo = Duration.seconds(30 * 86_400)

    private var prune: Action {
        Action(
            "runs.prune", "Delete old runs", .destroys,
            .option("older", "Delete runs that ended longer ago than this", default: Self.longAgo)
        ) { context, age in
            PrunedRuns(count: try await services.journal.prune(before: context.host.now() + (.zero - age)))
        }
        .losing { arguments, context in
            let age = try arguments["older"].map { try Duration(json: $0) } ?? Self.longAgo
            let count = try await services.journal.prunable(before: context.host.now() + (.zero - age)).count
            let runs = count == 1 ? "1 run that ended" : "\(count) runs that ended"
            return count == 0 ? nil : "Delete \(runs) more than \(age.words) ago, with all output of their steps"
        }
    }
}

/// A run with its steps.
struct RunDetail: Record {
    let run: RunRow
    let error: StepError?
    let outputs: JSONObject
    let steps: [StepRow]

    static let fields: [Field<RunDetail>] = [
        Field("id", "Id of the run", .name) { $0.run.id },
        Field("name", "Name of the bundle") { $0.run.name },
        Field("status", "How the run ended", .state) { $0.run.isBroken ? "broken-off" : $0.run.status.rawValue },
        Field("exit", "Exit code") { $0.run.exit },
        Field("started", "When it started") { $0.run.started },
        Field("seconds", "How long it took") { detail in
            detail.run.ended.map { ($0 - detail.run.started) / .seconds(1) }
        },
        Field("file", "The bundle's file") { $0.run.file },
        Field("error", "The first failure, in the order of the file") { $0.error?.message },
        Field("outputs", "Outputs of the bundle") { detail in
            detail.outputs.isEmpty ? JSON?.none : JSON.object(detail.outputs)
        },
        Field("steps", "Every attempt of every step, in the order they started") { $0.steps },
    ]
}

/// The result of `runs.prune`.
struct PrunedRuns: Record {
    let count: Int

    static let fields: [Field<PrunedRuns>] = [Field("runs", "Number of deleted runs") { $0.count }]
}

/// Formats the output of steps for a person: a heading when the step changes, the pieces of an answer as one text, and
/// everything else as a line.
struct LogText {
    private var step: String?
    private var isInLine = false

    /// The text for an event; nil if a person has no use for it.
    mutating func take(_ event: JournalEvent, at time: String) -> String? {
        guard let words = Self.words(event.event) else { return nil }
        var text = ""
        if step != event.step {
            text = end() ?? ""
            text += (step == nil ? "" : "\n") + "\(PlainText.escape(event.step)) · \(time)\n"
            step = event.step
        }
        if !words.isPiece {
            text += end() ?? ""
            return text + words.text + "\n"
        }
        text += words.text
        isInLine = text.last?.isNewline == false
        return text
    }

    /// Ends a line that is not ended yet.
    private mutating func end() -> String? { exchange(&isInLine, with: false) ? "\n" : nil }

    /// The text of an event, and whether the next text continues it; nil if a person has no use for it.
    static func words(_ event: JSON) -> (text: String, isPiece: Bool)? {
        for name in ["delta", "refusal"] {
            guard event["type"] == "message", let text = event[name]?.string else { continue }
            return text.isEmpty ? nil : (text, true)
        }
        switch event["type"]?.string {
        // Reasoning is not part of the answer, and the step's output names the model.
        case "reasoning", "init", "tool_output": return nil
        case "tool_use": return ("used \(event["name"]?.string ?? "a tool")", false)
        case "tool_result":
            guard event["is_error"]?.bool == true else { return nil }
            return ("failed: \(event["content"]?.string ?? "")", false)
        case let type:
            if let text = event["text"]?.string ?? event["message"]?.string { return (text, false) }
            let others = (event.object ?? [:]).filter { $0.key != "type" }
            let facts = others.map { "\($0.key) \($0.value.string ?? $0.value.text())" }
            return (([type ?? ""] + facts).filter { !$0.isEmpty }.joined(separator: ", "), false)
        }
    }
}
