import Capabilities
import JSON
import Registry
import RunReports
import Runs
import Screens

/// The screen of a run: what is known about it, and its steps while they run.
struct RunScreen {
    private let services: RunnerServices

    init(_ services: RunnerServices) { self.services = services }

    /// How many of the newest steps are shown.
    private static let mostSteps = 2_000
    /// The longest text of an output or of a failure, and the longest of all outputs together.
    private static let (longestText, longestOutputs) = (64 << 10, 512 << 10)
    /// When to look again while the run is running. Another process writes the steps.
    static let interval = Duration.seconds(1)

    func add(to registry: inout RegistryBuilder) {
        registry.add(
            Screen("runs.run", "Run", .detail, RunsActions.run()) { screen, name in
                // A run that starts later does not take the place of the one that is shown.
                let id = try await services.journal.find(name).id
                var isRunning = false
                repeat {
                    let run = try await services.journal.find(id)
                    isRunning = run.isRunning
                    try await screen.show(try await block(run, screen.context.registry))
                } while try await screen.changed(orAfter: isRunning ? Self.interval : nil)
            })
    }

    private func block(_ run: RunRow, _ registry: Registry) async throws -> Block {
        // One more, to know whether there are more.
        let newest = try await services.journal.progress(of: run.id, limit: Self.mostSteps + 1)
        let steps = Array(newest.suffix(Self.mostSteps))
        let (outputs, error) = try await services.journal.ending(of: run.id)
        let (shown, cut) = Self.cut(outputs, run.id)
        let failure = error.map {
            StepError(code: $0.code, message: Self.cut($0.message, to: Self.longestText, run.id) ?? $0.message)
        }
        let detail = RunDetail(run: run, error: failure, outputs: shown, steps: [])
        let argument: [String: Link.Argument] = ["run": .value(.string(run.id))]
        var links: [Link] = [.screen("runs.log", "Output", key: "o", argument)]
        if run.isRunning {
            links.append(.action("runs.cancel", "Cancel", key: "c", argument))
        } else if run.status != .ok {
            links.append(.action("run.start", "Resume", key: "r", ["resume": .value(.string(run.id))]))
        }
        links += registry.present([
            .screen("trace.traces", "Traces", key: "w", ["about": .value(.string(run.id))])
        ])
        let values = Values(
            RunDetail.fields.map(\.property).filter { $0.name != "steps" }, detail.json.object ?? [:])
        var blocks = [Block(.values(values))]
        if !cut.isEmpty {
            let names = cut.prefix(10).joined(separator: ", ") + (cut.count > 10 ? " and \(cut.count - 10) more" : "")
            blocks.append(
                Block(
                    .text(
                        RichText(
                            "Only the beginning of these outputs is shown: \(names). 'martlet runs show \(run.id)' shows "
                                + "all of them.", .mutedForeground)), id: "cut"))
        }
        if newest.count > steps.count {
            blocks.append(
                Block(
                    .text(
                        RichText(
                            "Only the newest \(steps.count) steps are shown; 'martlet runs show \(run.id)' shows all.",
                            .mutedForeground)), id: "omission"))
        }
        blocks.append(
            Block(
                .timeline(
                    Timeline(
                        Self.timeline(steps, isRunning: run.isRunning),
                        links: [.screen("runs.log", "Output", key: "o", argument.merging(["step": .row("id")]) { $1 })])
                ),
                id: "steps", title: "Steps"))
        return Block(.stack(Stack(blocks)), id: "run", title: run.name, links: links)
    }

    // MARK: Outputs

    /// The outputs as far as there is room for them, and the names of those that are longer.
    private static func cut(_ outputs: JSONObject, _ run: String) -> (shown: JSONObject, cut: [String]) {
        var shown = JSONObject()
        var names: [String] = []
        var room = longestOutputs
        for (name, value) in outputs {
            let text = value.string ?? value.text()
            if let cut = cut(text, to: min(longestText, room), run) {
                shown.append(name, .string(cut))
                names.append(name)
            } else {
                shown.append(name, value)
            }
            room = max(0, room - min(longestText, text.utf8.count))
        }
        return (shown, names)
    }

    /// The beginning of a text; nil if it is not longer.
    private static func cut(_ text: String, to length: Int, _ run: String) -> String? {
        let more = text.utf8.count - length
        guard more > 0 else { return nil }
        let start = text[..<text.utf8.index(text.startIndex, offsetBy: length)]
        return "\(start)…\n(\(ByteCount(more).words) more; 'martlet runs show \(run)' shows all)"
    }

    // MARK: Steps

    private static func timeline(_ steps: [StepProgress], isRunning: Bool) -> [Timeline.Step] {
        let groups = StepGroups(steps)
        return steps.map { step in
            let isOpen = step.status == .running
            let attempt = step.attempt > 1 ? "attempt \(step.attempt)" : nil
            let error = step.error?.split(whereSeparator: \.isNewline).first.map { String($0.prefix(200)) }
            let note = [attempt, error].compactMap(\.self).joined(separator: ": ")
            return Timeline.Step(
                step.key, "\(step.key) (\(step.work))",
                // The process of a run may disappear without ending its steps.
                state: isOpen && !isRunning ? "interrupted" : step.status.rawValue, group: groups[step.key],
                start: step.started, duration: isOpen ? nil : step.duration,
                // Most actions run no command, so that a success says nothing.
                exitCode: isOpen || step.exit == 0 && step.work != "shell.run" ? nil : step.exit,
                note: note.isEmpty ? nil : note)
        }
    }
}

/// Which steps ran side by side: those inside the same step that overlapped in time, directly or through others.
struct StepGroups {
    private var groups: [String: String] = [:]

    /// The start of a step and the end of the one before it are measured differently, and may differ by this much.
    private static let tolerance = Duration.milliseconds(5)

    init(_ steps: [StepProgress]) {
        for siblings in Dictionary(grouping: steps, by: { StepKey.parent(of: $0.key) }).values {
            var group: [StepProgress] = []
            var end: Timestamp?
            for step in siblings.sorted(by: { ($0.started, $0.key) < ($1.started, $1.key) }) {
                if let end, step.started + Self.tolerance >= end {
                    add(group)
                    group = []
                }
                let own =
                    step.status == .running ? Timestamp(microseconds: .max) : step.started + step.duration
                end = group.isEmpty ? own : max(end ?? own, own)
                group.append(step)
            }
            add(group)
        }
    }

    /// The group of a step; nil if it ran by itself.
    subscript(key: String) -> String? { groups[key] }

    private mutating func add(_ steps: [StepProgress]) {
        guard let first = steps.first, steps.count > 1 else { return }
        for step in steps { groups[step.key] = first.key }
    }
}

extension RunRow {
    /// Whether a process runs it now.
    var isRunning: Bool { status == .running && !isBroken }
}
