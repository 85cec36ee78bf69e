import Capabilities
import CoreTesting
import HostTesting
import JSON
import Registry
import Testing

@Suite("Replay", .serialized, .timeLimit(.minutes(5)))
struct ReplayTests {
    private let bundle = """
        name: taped
        inputs: {n: {type: integer, default: 2}}
        env: {home: {variable: TAPED}}
        steps:
          - {id: many, foreach: "${{ range(inputs.n) }}", action: lab.echo, with: {value: "${{ each.value }} ${{ env.home }}"}}
          - {id: inner, bundle: inner.yaml}
          - {id: bad, action: lab.fail, continue-on-error: true}
          - {id: last, action: lab.echo, with: {value: "${{ length(steps.many.results) }}", say: "run ${{ run.id }} of ${{ run.started }}"}}
        """

    private let inner = """
        name: inner
        env: {home: {variable: TAPED}}
        steps: [{action: lab.echo, with: {value: "${{ env.home }}"}}]
        """

    @Test("A replay performs no actions and matches the recording")
    func same() async throws {
        try await TestWorkbench.withRunner { bench in
            bench.environment["TAPED"] = "here"
            let tape = "\(bench.folder)/tape.ndjson"
            try bench.write(inner, to: "inner.yaml")
            let run = try await bench.run(bundle, ["record": .string(tape)])
            #expect(run.exit == .done)
            LabFeature.reset(bench.folder)
            // Variables come only from the recording.
            bench.environment["TAPED"] = nil
            bench.output = .init()
            let replay = try await bench.perform("run.start", ["replay": .string(tape)])
            #expect(replay.json["same"] == true && replay.exit == .done, "\(replay.json)")
            #expect(replay.json["run"]?["steps"]?.array?.last?["result"] == run.json["steps"]?.array?.last?["result"])
            #expect(bench.output.events.contains { $0.type == "step_output" })
            let counts = LabFeature.counts(bench.folder)
            #expect(counts.calls == 0 && counts.starts == 0)
            #expect(try await bench.perform("runs.list").json.array?.count == 1)
        }
    }

    @Test("A replay of a changed bundle reports other arguments, new steps and missing steps")
    func differences() async throws {
        try await TestWorkbench.withRunner { bench in
            bench.environment["TAPED"] = "here"
            let tape = "\(bench.folder)/tape.ndjson"
            try bench.write(inner, to: "inner.yaml")
            _ = try await bench.run(bundle, ["record": .string(tape)])
            let changed = bundle.replacing("id: last", with: "id: lost").replacing("env.home }}", with: "env.home }}!")
            let replay = try await bench.run(changed, ["replay": .string(tape)])
            #expect(replay.exit == .failed)
            let found = replay.json["differences"]?.array?.compactMap(\.string) ?? []
            #expect(found.first == "the bundle changed since it was recorded")
            #expect(found.contains { $0.hasPrefix("many[0]: given {\"value\":\"0 here!\"}, recorded") })
            #expect(found.contains("lost: not in the recording"))
            #expect(found.contains("last: in the recording, but did not run"))
        }
    }

    @Test("A replay does not wait for delays") func waiting() async throws {
        try await TestWorkbench.withRunner { bench in
            let tape = "\(bench.folder)/tape.ndjson"
            let bundle = """
                name: patient
                steps: [{id: bad, action: lab.fail, retry: {times: 2, delay: 1ms, on: [5]}, continue-on-error: true}]
                """
            _ = try await bench.run(bundle, ["record": .string(tape)])
            LabFeature.reset(bench.folder)
            let replay = try await bench.run(
                bundle.replacing("1ms", with: "1h"), ["replay": .string(tape)])
            #expect(replay.json["same"] == true, "\(replay.json)")
            #expect(replay.json["run"]?["steps"]?.array?.count == 3)
            #expect(LabFeature.counts(bench.folder).calls == 0)
        }
    }

    @Test("An invalid recording is rejected", arguments: ["", "{}", "not json", #"{"type":"recording","version":1}"#])
    func broken(text: String) async throws {
        try await TestWorkbench.withRunner { bench in
            let path = try bench.write(text, to: "tape.ndjson")
            let failure = try await bench.failure(ofBundle: bundle, ["replay": .string(path)])
            #expect(failure?.code == "run.recording" && failure?.exit == .usage)
        }
    }
}
