import Bundles
import Capabilities
import CoreTesting
import FileKit
import HostKit
import JSON
import Registry
import Screens
import Testing

@testable import Runner
@testable import Runs

@Suite("Screens of a run", .timeLimit(.minutes(5)))
struct RunScreenTests {
    /// Lends a host, and a run that another program writes.
    private static func withRun(_ body: (TestHost, Recorded) async throws -> Void) async throws {
        try await TemporaryDirectory.run { folder in
            let test = try TestHost([HostFeature.self, RunnerFeature.self], folder: folder)
            try Files.makeDirectories("\(folder)/data")
            let journal = Journal("\(folder)/data/runs.db", now: { Timestamp(microseconds: 0) })
            let text = "name: nightly\nsteps:\n  - {id: a, action: work}\n"
            let bundle = try Bundle(BundleSource(Array(text.utf8), file: "b.yaml"))
            try await body(test, Recorded(run: try await journal.begin(bundle, inputs: [:])))
            await journal.close()
            #expect(await test.session.close() == [])
        }
    }

    /// A run that is recorded by hand.
    private struct Recorded {
        let run: JournalRun

        func begin(_ key: String, at second: Int64, attempt: Int = 1) throws {
            try run.begin(update(key, at: second, attempt, StepOutcome(.running)))
        }

        func end(
            _ key: String, at second: Int64, after duration: Duration, _ status: StepStatus = .ok, attempt: Int = 1
        ) throws {
            var outcome = StepOutcome(status)
            outcome.duration = duration
            if status == .failed {
                outcome.exit = 2
                outcome.error = StepError(code: "lab.failed", message: "it broke\nbadly")
            }
            try run.end(update(key, at: second, attempt, outcome))
        }

        private func update(_ key: String, at second: Int64, _ attempt: Int, _ outcome: StepOutcome) -> StepUpdate {
            StepUpdate(
                key: key, work: "lab.echo", attempt: attempt, time: Timestamp(microseconds: second * 1_000_000),
                arguments: [:], outcome: outcome)
        }

        func say(_ event: JSON, in step: String) { run.note(event, of: step, at: Timestamp(microseconds: 0)) }

        func end(_ status: RunSummary.Status, outputs: JSONObject = [:], error: StepError? = nil) throws {
            var summary = RunSummary(
                id: run.id, name: "nightly", status: status, exit: status == .ok ? .done : .failed,
                started: Timestamp(microseconds: 0), ended: Timestamp(microseconds: 9_000_000))
            summary.outputs = outputs
            summary.error = error
            try run.end(summary)
        }
    }

    /// Lets the screen look again, and returns the value that follows.
    private static func next(
        _ view: OpenScreen, _ test: TestHost, _ condition: (Block) -> Bool
    ) async throws -> Block {
        await test.clock.waitForSleepers(1)
        test.clock.advance(by: .seconds(1))
        return try await view.block(where: condition)
    }

    @Test("A run shows its steps while they run, and those that ran side by side are grouped")
    func steps() async throws {
        try await Self.withRun { test, recorded in
            try recorded.begin("build", at: 0)
            try await test.open("runs.run") { view in
                let first = try await view.block { _ in true }
                #expect(first.title == "nightly" && first.steps.map(\.state) == ["running"])
                #expect(first.steps[0].duration == nil && first.values?["status"] == "running")
                #expect(first.links.map(\.title) == ["Output", "Cancel"])

                try recorded.end("build", at: 0, after: .seconds(2))
                try recorded.begin("lint", at: 2)
                try recorded.begin("test[os=a]", at: 2)
                let second = try await Self.next(view, test) { $0.steps.count == 3 }
                #expect(second.steps.map(\.group) == [nil, nil, nil])

                try recorded.begin("docs", at: 3)
                try recorded.end("lint", at: 2, after: .seconds(2), .failed)
                let third = try await Self.next(view, test) { $0.steps.count == 4 }
                #expect(third.steps.map(\.group) == [nil, "lint", nil, "lint"])
                #expect(third.steps[1].note == "it broke" && third.steps[1].exitCode == 2)
                #expect(third.steps[1].title == "lint (lab.echo)" && third.steps[0].duration == .seconds(2))

                try recorded.begin("lint", at: 5, attempt: 2)
                try recorded.end("lint", at: 5, after: .seconds(1), attempt: 2)
                try recorded.end(.failed)
                let last = try await Self.next(view, test) { $0.values?["status"] == "failed" }
                #expect(last.steps.map(\.id) == ["build", "test[os=a]", "docs", "lint"])
                // Steps without an end, in a run that has ended.
                #expect(last.steps.map(\.state) == ["ok", "interrupted", "interrupted", "ok"])
                #expect(last.steps[3].note == "attempt 2" && last.steps[3].exitCode == nil)
                #expect(last.links.map(\.title) == ["Output", "Resume"])
                let link = try #require(last.timeline?.rowLinks.first)
                #expect(link.arguments(for: last.steps[1].json.object ?? [:])["step"] == "test[os=a]")
            }
        }
    }

    @Test("Only of a run with more steps than are shown it is said that there are more", arguments: [2_000, 2_001])
    func manySteps(_ count: Int) async throws {
        try await Self.withRun { test, recorded in
            for number in 1...count { try recorded.begin("step-\(number)", at: Int64(number)) }
            let shown = try await test.open("runs.run") { view in try await view.block { _ in true } }
            #expect(shown.steps.count == 2_000 && shown.steps.last?.id == "step-\(count)")
            #expect(shown.children.contains { $0.id == "omission" } == (count > 2_000))
        }
    }

    @Test("Of outputs that are too long for a screen the beginning is shown, and they are named")
    func longOutputs() async throws {
        try await Self.withRun { test, recorded in
            let long = String(repeating: "bird ", count: 200_000)
            var outputs: JSONObject = ["short": "sky", "list": .array(Array(repeating: .string(long), count: 2))]
            for number in 0..<12 { outputs["text-\(number)"] = .string(long) }
            try recorded.end(.failed, outputs: outputs, error: StepError(code: "lab.failed", message: long))
            let shown = try await test.open("runs.run") { view in try await view.block { _ in true } }
            let values = try #require(shown.values?["outputs"]?.object)
            #expect(values["short"] == "sky" && values.map(\.key) == outputs.map(\.key))
            #expect(values["text-0"]?.string?.hasPrefix("bird bird") == true)
            #expect(values["list"]?.string?.hasPrefix("[\"bird") == true)
            #expect(shown.values?["error"]?.string?.contains("more; 'martlet runs show") == true)
            guard case .text(let text) = shown.children.first(where: { $0.id == "cut" })?.content else {
                Issue.record("nothing says which outputs are cut")
                return
            }
            #expect(text.plain.hasPrefix("Only the beginning of these outputs is shown: list, text-0, text-1"))
            #expect(text.plain.contains("and 3 more"))
        }
    }

    @Test("The output of a run follows while it runs, a step's pieces as one text")
    func log() async throws {
        try await Self.withRun { test, recorded in
            try recorded.begin("build", at: 0)
            try await test.open("runs.log") { view in
                let first = try await view.block { _ in true }
                #expect(first.lines == [] && first.placeholder?.reason == .loading)

                recorded.say(["type": "message", "role": "assistant", "delta": "Two "], in: "build")
                recorded.say(["type": "message", "role": "assistant", "delta": "swallows\nfly"], in: "build")
                try recorded.end("build", at: 0, after: .seconds(1))
                // The lines are shared with what was shown before, so they may be there before the block that follows.
                let second = try await Self.next(view, test) { $0.placeholder == nil }
                #expect(second.lines == ["build", "Two swallows", "fly"])

                recorded.say(["type": "message", "role": "assistant", "delta": " away"], in: "build")
                recorded.say(["type": "output", "text": "done\n"], in: "test")
                recorded.say(["type": "tool_result", "is_error": true, "content": "too dark"], in: "test")
                try recorded.end(.ok)
                let third = try await Self.next(view, test) { $0.links.count == 1 }
                #expect(
                    third.lines == [
                        "build", "Two swallows", "fly away", "test", "done", "failed: too dark",
                    ])
                #expect(third.feed?.entries(from: 5).entries.first?.state == "error" && third.feed === second.feed)
                #expect(third.links.map(\.title) == ["Run"])
            }
            let one = try await test.open("runs.log", ["step": "test"]) { view in
                try await view.block { _ in true }
            }
            #expect(one.lines == ["done", "failed: too dark"] && one.title == "nightly: test")
        }
    }

    @Test("Of a very long log the newest output is shown, with how much is left out", arguments: [10_000, 10_003])
    func longLog(_ count: Int) async throws {
        try await Self.withRun { test, recorded in
            for number in 1...count {
                // Of one step not all would be kept.
                recorded.say(["type": "output", "text": .string("\(number)")], in: "step-\(number / 100)")
            }
            try recorded.end(.ok)
            let shown = try await test.open("runs.log") { view in try await view.block { _ in true } }
            #expect(shown.lines.count == 10_000 && shown.lines.last == "\(count)")
            let omission = shown.children.first { $0.id == "omission" }
            let text = "3 older events are not shown here; 'martlet runs logs \(recorded.run.id)' shows all."
            #expect(omission?.content == (count > 10_000 ? .text(RichText(text, .mutedForeground)) : nil))
        }
    }

    @Test("A log without new output is no news, even if its newest line is open")
    func silence() {
        var log = LogLines(isOfOneStep: true)
        func piece(_ text: String, _ number: Int) -> JournalEvent {
            JournalEvent(
                number: number, step: "a", time: Timestamp(microseconds: 0),
                event: ["type": "message", "role": "assistant", "delta": .string(text)])
        }
        log.append([piece("Two ", 0)])
        let version = log.feed.version
        log.append([])
        log.append([piece("", 1)])
        #expect(log.feed.version == version)
        log.append([piece("swallows", 2)])
        #expect(log.feed.entries(from: 0).entries.map(\.text) == ["Two swallows"])
    }

    @Test("A run or a step that does not exist is a failure with its advice")
    func unknown() async throws {
        try await Self.withRun { test, recorded in
            try recorded.begin("build", at: 0)
            try recorded.end("build", at: 0, after: .seconds(1))
            try recorded.end(.ok)
            func failure(_ id: String, _ arguments: JSONObject) async throws -> AnyFailure {
                try await test.open(id, arguments) { view in
                    for try await state in view.states {
                        if case .failed(let failure, _) = state { return AnyFailure(failure) }
                    }
                    throw CancellationError()
                }
            }
            #expect(try await failure("runs.run", ["run": "zzz"]).code == "run.unknown")
            #expect(try await failure("runs.log", ["step": "biuld"]).message.contains("'build'"))
            let silent = try await test.open("runs.log", ["step": "build"]) { view in
                try await view.block { _ in true }
            }
            #expect(silent.placeholder?.message == "the step build has no output")
        }
    }
}

extension Block {
    fileprivate var timeline: Timeline? {
        if case .timeline(let timeline) = content { return timeline }
        return children.lazy.compactMap(\.timeline).first
    }
    fileprivate var steps: [Timeline.Step] { timeline?.steps ?? [] }
    fileprivate var values: JSONObject? {
        if case .values(let values) = content { return values.values }
        return children.lazy.compactMap(\.values).first
    }
    fileprivate var feed: Feed<Log.Line>? {
        if case .log(let log) = content { return log.feed }
        return children.lazy.compactMap(\.feed).first
    }
    fileprivate var lines: [String] { feed.map { $0.entries(from: 0).entries.map(\.text) } ?? [] }
    fileprivate var placeholder: Placeholder? {
        if case .placeholder(let placeholder) = content { return placeholder }
        return children.lazy.compactMap(\.placeholder).first
    }
}
