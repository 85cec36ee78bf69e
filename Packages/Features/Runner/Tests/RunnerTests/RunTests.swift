import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import HostKit
import HostTesting
import JSON
import Registry
import Testing

@testable import Runner

@Suite("run.start", .serialized, .timeLimit(.minutes(5)))
struct RunTests {
    @Test("The feature passes the conformance tests") func conforms() async {
        await #expect(processExitsWith: .success) {
            let violations = try await TemporaryDirectory.run { folder in
                let (text, bundle) = ("\(folder)/words.txt", "\(folder)/greet.yaml")
                try Files.writeAtomically(
                    Array("name: greet\nsteps:\n  - {action: lab.echo, with: {say: hi}}\n".utf8), to: bundle)
                return try await FeatureConformance.violations(
                    of: RunnerFeature.self, with: [HostFeature.self, LabFeature.self], in: folder,
                    doing: [
                        "file.write": ["path": .string(text), "text": "Hello"],
                        "file.read": ["path": .string(text)], "run.expect": ["that": true],
                        "run.start": ["bundle": .string(bundle)],
                        "run.install": ["bundle": .string(bundle), "cron": true, "every": "1h"],
                        "runs.show": [:], "runs.logs": [:], "runs.cancel": [:], "runs.prune": [:],
                        "http.request": ["url": "http://127.0.0.1:1/"],
                    ],
                    texts: ["http.request.idempotency-key": "a word that is sent, and leads nowhere"])
            }
            #expect(violations.isEmpty, "\(violations)")
        }
    }

    @Test("A run performs its steps, emits events, returns outputs and is in the journal")
    func story() async throws {
        try await TestWorkbench.withRunner { bench in
            let run = try await bench.run(
                """
                name: story
                inputs: {who: {}, times: {type: integer, default: 2}}
                steps:
                  - {id: greet, action: lab.echo, with: {value: "Hello ${{ inputs.who }}", say: hi}}
                  - {id: each, foreach: "${{ range(inputs.times) }}", action: lab.echo, with: {value: "${{ each.value }}"}}
                outputs: {text: "${{ steps.greet.result }}", list: "${{ steps.each.results }}"}
                """, ["input": ["who=Ada"]])
            #expect(run.json["status"] == "ok" && run.exit == .done)
            #expect(run.json["outputs"] == ["text": "Hello Ada", "list": [0, 1]])
            let types = bench.output.events.map(\.type)
            #expect(types.first == "run_started" && types.last == "run_ended" && types.contains("step_output"))
            let id = try #require(run.json["run"]?.string)
            #expect(try await bench.perform("runs.list").json[0]?["id"] == .string(id))
            let told = bench.output.events.compactMap(\.text).joined()
            #expect(told.hasSuffix("text: Hello Ada\nlist: [0,1]\n"), "\(told)")
            #expect(
                try await bench.perform("runs.show").json["outputs"] == ["text": "Hello Ada", "list": [0, 1]])
            let shown = try await bench.perform("runs.show", ["run": .string(String(id.prefix(18)))]).json
            #expect(
                shown["steps"]?.array?.compactMap { $0["step"]?.string } == ["greet", "each[0]", "each[1]", "each"])
            let logs = try await bench.perform("runs.logs", ["step": "greet"]).json
            #expect(logs[0]?["event"]?["text"] == "hi")
            let unknown = await #expect(throws: RunnerError.self) {
                try await bench.perform("runs.logs", ["step": "gret"])
            }
            #expect(unknown?.exit == .usage)
            #expect(unknown?.message.contains("no step 'gret'; did you mean 'greet'?") == true)
            // Without runs to delete there is no confirmation.
            #expect(try await bench.perform("runs.prune", ["older": "1h"]).json["runs"] == 0)
            let unasked = await #expect(throws: InteractionError.self) {
                try await bench.perform("runs.prune", ["older": "0s"])
            }
            #expect(unasked?.message.contains("Delete 1 run that ended") == true, "\(unasked?.message ?? "")")
            bench.person = HeadlessInteraction(answers: ["confirm.runs.prune": true])
            #expect(try await bench.perform("runs.prune", ["older": "0s"]).json["runs"] == 1)
        }
    }

    @Test("runs.logs shows text to people and the original events to programs")
    func logs() async throws {
        try await TestWorkbench.withRunner { bench in
            _ = try await bench.run(
                "{name: talk, steps: [{id: birds, action: lab.talk}, {id: last, action: lab.talk}]}")
            bench.output = RecordingOutput()
            let logs = try await bench.perform("runs.logs").json.array ?? []
            #expect(logs.count == 16 && logs[2]["event"]?["delta"] == "Two ")
            let events = bench.output.events
            #expect(events.count == 16 && events.allSatisfy { $0.type == "step_output" })
            #expect(events[2].fields["event"]?["delta"] == "Two " && events[2].fields["step"] == "birds")
            let text = events.compactMap(\.text).joined()
            #expect(!text.contains("{") && !text.contains("birds\n\n"), "\(text)")
            let said = "Two swallows\nused look\nfailed: too dark\nfly.\nseen, count 2\n"
            let parts = text.split(separator: said, omittingEmptySubsequences: false)
            #expect(parts.count == 3 && parts[2].isEmpty, "\(text)")
            #expect(parts[0].hasPrefix("birds · 2") && parts[1].hasPrefix("\nlast · 2") && parts[1].hasSuffix("Z\n"))
        }
    }

    @Test("All errors are reported at once, and nothing runs")
    func problems() async throws {
        try await TestWorkbench.withRunner { bench in
            bench.environment["MARTLET_TEST_ONE"] = "1"
            let failure = try await bench.failure(
                ofBundle: """
                    name: wrong
                    needs: [labb]
                    inputs: {who: {summary: Whom to greet}}
                    env: {one: {variable: MARTLET_TEST_ONE}, two: {variable: MARTLET_TEST_TWO}, key: {secret: nobody}}
                    permissions: {secrets: [nobody]}
                    steps:
                      - {id: a, action: lab.ecko}
                      - {id: b, action: lab.break}
                      - {id: c, action: lab.echo, with: {valeu: 1}}
                      - {id: d, action: run.start}
                    """)
            #expect(failure?.exit == .usage && failure?.code == "bundle.invalid")
            let lines = failure?.message.split(separator: "\n").map(String.init) ?? []
            let expected = [
                "labb", "input 'who' is missing: Whom to greet", "variable MARTLET_TEST_TWO", "secret 'nobody'",
                "unknown action 'lab.ecko'; did you mean 'lab.echo'", "lab.break destroys",
                "'valeu' is not a parameter",
                "use 'bundle: FILE' in a step",
            ]
            #expect(lines.count == expected.count, "\(lines)")
            for words in expected { #expect(lines.contains { $0.contains(words) }, "\(words) in \(lines)") }
            #expect(lines.allSatisfy { $0.hasPrefix(bench.folder + "/b.yaml:") })
            #expect(try await bench.perform("runs.list").json == [])
            #expect(LabFeature.counts(bench.folder).calls == 0)
        }
    }

    @Test("Missing secrets and variables of inner bundles are reported before the run, with their places")
    func inner() async throws {
        try await TestWorkbench.withRunner { bench in
            try bench.write(
                "name: inner\nenv:\n  key: {secret: nobody}\n  plain: {variable: MARTLET_TEST_ONE}\n"
                    + "permissions: {secrets: [nobody]}\n"
                    + "steps: [{bundle: innermost.yaml}]", to: "inner.yaml")
            try bench.write(
                "name: innermost\nenv: {home: {variable: MARTLET_TEST_TWO}}\nsteps: [{action: lab.echo}]",
                to: "innermost.yaml")
            let text =
                "name: outer\npermissions: {secrets: ['*']}\n"
                + "steps: [{action: lab.echo}, {bundle: inner.yaml}, {bundle: inner.yaml}]"
            for arguments in [[:], ["check": true]] as [JSONObject] {
                let failure = try await bench.failure(ofBundle: text, arguments)
                let lines = failure?.message.split(separator: "\n").map(String.init) ?? []
                #expect(failure?.exit == .usage && lines.count == 3, "\(lines)")
                let expected = [
                    "inner.yaml:3:8: no secret 'nobody'", "inner.yaml:4:10: the variable MARTLET_TEST_ONE",
                    "innermost.yaml:2:13: the variable MARTLET_TEST_TWO",
                ]
                for (line, words) in zip(lines, expected) {
                    #expect(line.hasPrefix("\(bench.folder)/\(words)"), "\(line)")
                }
            }
            #expect(LabFeature.counts(bench.folder).calls == 0)
        }
    }

    @Test("A missing action of a disabled feature is reported with the command that enables it")
    func switchedOff() async throws {
        try await TestWorkbench.withRunner { bench in
            try Files.makeDirectories("\(bench.folder)/home/config")
            try bench.write("{features: {lab: false}}", to: "home/config/config.json")
            let failure = try await bench.failure(
                ofBundle: "name: off\nsteps: [{action: lab.echo}, {action: lap.echo}]")
            let lines = failure?.message.split(separator: "\n").map(String.init) ?? []
            #expect(lines.count == 2)
            #expect(lines.first?.contains("2:18: unknown action 'lab.echo': the feature lab is off") == true)
            #expect(lines.first?.hasSuffix("martlet config set features.lab true") == true)
            #expect(lines.last?.contains("unknown action 'lap.echo'") == true)
            #expect(lines.last?.contains("is off") == false)
        }
    }

    @Test("Inputs from options override a file, and a file overrides variables; secrets are masked")
    func inputs() async throws {
        try await TestWorkbench.withRunner { bench in
            bench.environment.merge([
                "MARTLET_INPUT_A": "variable", "MARTLET_INPUT_B": "variable", "MARTLET_INPUT_C_D": "variable",
                "MARTLET_INPUT_KEY": "hunter2-hunter2",
            ]) { $1 }
            try bench.write("{a: 'file', b: 'file', keys: ['tiger9-tiger9', {k: 'lion77-lion77'}]}", to: "inputs.json5")
            let run = try await bench.run(
                """
                name: inputs
                inputs: {a: {}, b: {}, c-d: {}, key: {secret: true}, keys: {type: list, secret: true}}
                steps:
                  - id: say
                    action: lab.echo
                    with:
                      value: "${{ inputs.a }} ${{ inputs.b }} ${{ inputs['c-d'] }} ${{ inputs.key }}"
                      say: "key=${{ inputs.key }} ${{ inputs.keys[0] }} ${{ inputs.keys[1].k }}"
                """,
                [
                    "input": ["a=word"], "inputs": .string("\(bench.folder)/inputs.json5"),
                    "record": .string("\(bench.folder)/r.ndjson"), "html": .string("\(bench.folder)/r.html"),
                ])
            #expect(run.json["steps"]?[0]?["result"] == "word file variable ‹redacted›")
            let everything =
                bench.output.events.map { $0.json.text() + ($0.text ?? "") }.joined() + run.json.text()
                + (try bench.read("r.ndjson")) + (try bench.read("r.html"))
            let database = try bench.read("home/data/runs.db") + ((try? bench.read("home/data/runs.db-wal")) ?? "")
            #expect(everything.contains("redacted"))
            for secret in ["hunter2", "tiger9", "lion77"] {
                #expect(!everything.contains(secret) && !database.contains(secret), "\(secret)")
            }
        }
    }

    @Test("A secret in an ordinary input is not saved, and must be given again to resume")
    func secretInOrdinaryInput() async throws {
        try await TestWorkbench.withRunner { bench in
            let secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
            _ = try await bench.failure(
                ofBundle: """
                    name: b
                    inputs: {x: {default: none}}
                    steps:
                      - {id: a, action: lab.echo, with: {value: "${{ inputs.x }}"}}
                      - {id: b, action: lab.fail, needs: [a]}
                    """, ["input": .array([.string("x=\(secret)")])])
            let database = try bench.read("home/data/runs.db") + ((try? bench.read("home/data/runs.db-wal")) ?? "")
            #expect(!database.contains(secret) && database.contains(Redactor.mark))
            let again: JSONObject = ["resume": "last", "again": true]
            let error = await #expect(throws: RunnerError.self) { try await bench.perform("run.start", again) }
            #expect(error?.message.contains("the input x was a secret") == true)
            var given = again
            given["input"] = .array([.string("x=\(secret)")])
            let run = try await bench.perform("run.start", given)
            #expect(run.json["steps"]?.array?.count == 2)
        }
    }

    @Test("Features that a run needs are started once and stopped at its end")
    func features() async throws {
        try await TestWorkbench.withRunner { bench in
            let run = try await bench.run(
                """
                name: many
                steps: [{id: all, matrix: {n: [1, 2, 3, 4, 5, 6, 7, 8]}, parallel: 4, action: lab.echo}]
                """)
            #expect(run.exit == .done)
            let counts = LabFeature.counts(bench.folder)
            #expect(counts.starts == 1 && counts.stops == 1 && counts.calls == 8)
        }
    }

    @Test("A run exits with the code of the first failed step, and keeps the results of failed steps")
    func exits() async throws {
        try await TestWorkbench.withRunner { bench in
            let run = try await bench.run(
                """
                name: exits
                steps:
                  - {id: judge, action: lab.judge, continue-on-error: true}
                  - {id: fail, action: lab.fail}
                  - {id: after, action: lab.echo}
                finally: [{action: lab.echo, with: {value: "${{ steps.judge.result }}, exit ${{ steps.judge.exit }}"}}]
                """)
            #expect(run.exit == .toolFailed && run.json["error"]?["code"] == "lab.failed")
            let steps = run.json["steps"]?.array ?? []
            #expect(steps.map { $0["status"]?.string ?? "" } == ["failed", "failed", "blocked", "ok"])
            #expect(steps.first?["result"] == "something is wrong")
            #expect(steps.last?["result"] == "something is wrong, exit 1")
        }
    }

    @Test("The reason and remedy of a failed result appear in the run, the report and the journal")
    func reasons() async throws {
        try await TestWorkbench.withRunner { bench in
            let words = "lab.look ended with exit code 4: nobody answers at the door; ring the bell"
            let run = try await bench.run(
                "name: looks\nsteps: [{id: look, action: lab.look}]", ["junit": .string("\(bench.folder)/junit.xml")])
            #expect(run.exit == .unreachable && run.json["error"]?["message"] == .string(words))
            #expect(try bench.read("junit.xml").contains("message=\"\(words)\""))
            let shown = try await bench.perform("runs.show").json
            #expect(shown["error"] == .string(words) && shown["steps"]?[0]?["error"] == .string(words))
        }
    }

    @Test("A failure reason includes only failed rows") func rows() {
        let rows: JSON = [
            ["id": "a", "state": "ok", "found": "fine"],
            ["id": "b", "state": "warning", "found": "old", "mend": "renew"],
            ["id": "c", "state": "failed", "found": "gone", "mend": "bring it back"],
        ]
        #expect(ResultReason.text(rows) == "c: gone; bring it back")
        #expect(
            ResultReason.text(["text": "x"]) == nil && ResultReason.text([]) == nil && ResultReason.text("x") == nil)
        let many = JSON.array((1...5).map { ["reason": .string("r\($0)")] })
        #expect(ResultReason.text(many) == "r1; r2; r3; and 2 more")
    }

    @Test("--no-journal saves nothing and works without a data folder, and the error suggests it")
    func unkept() async throws {
        try await TestWorkbench.withRunner { bench in
            // No user can create a folder there.
            bench.environment["MARTLET_HOME"] = "/proc/nobody/martlet"
            let text = "name: container\nsteps: [{action: lab.echo, with: {value: 1}}]"
            let failure = try await bench.failure(ofBundle: text)
            #expect(failure?.message.hasSuffix("; use --no-journal to run without saving the run") == true)
            let run = try await bench.run(text, ["no-journal": true])
            #expect(run.exit == .done && run.json["steps"]?[0]?["result"] == 1)
            let told = bench.output.notices.filter { $0.contains("this run is not saved") }
            #expect(told.count == 1)
            for other in ["resume": "last", "alone": true] as JSONObject {
                let refused = try await bench.failure(ofBundle: text, ["no-journal": true, other.0: other.1])
                #expect(refused?.exit == .usage && refused?.message.contains("needs the journal") == true)
            }
        }
    }

    @Test("A notice appears when a secret is written to a file") func writtenSecret() async throws {
        try await TestWorkbench.withRunner { bench in
            let text = """
                name: leak
                inputs: {token: {secret: true}}
                permissions: {actions: [file.write], paths: ["\(bench.folder)"]}
                steps:
                  - {id: plain, action: file.write, with: {path: "\(bench.folder)/plain.txt", text: "harmless"}}
                  - {id: leak, action: file.write, with: {path: "\(bench.folder)/leak.txt", text: "it is ${{ inputs.token }}"}}
                """
            _ = try await bench.run(text, ["input": ["token=open-sesame-4711"]])
            let told = bench.output.events.compactMap(\.text).filter { $0.contains("will contain a secret") }
            #expect(told.count == 1 && told[0].contains("leak: \(bench.folder)/leak.txt"), "\(told)")
            #expect(try bench.read("leak.txt") == "it is open-sesame-4711")
        }
    }

    @Test("runs.list reports that there are no runs yet") func none() async throws {
        try await TestWorkbench.withRunner { bench in
            let rows = try await bench.perform("runs.list").json
            #expect(rows == [])
            #expect(bench.output.notices == ["there are no saved runs; 'martlet run FILE' runs a bundle"])
        }
    }

    @Test("runs.list reports that the journal was damaged") func damaged() async throws {
        try await TestWorkbench.withRunner { bench in
            let path = "\(bench.folder)/home/data/runs.db"
            try Files.makeDirectories("\(bench.folder)/home/data")
            try Files.writeAtomically([UInt8](repeating: 0x5A, count: 5000), to: path)
            let rows = try await bench.perform("runs.list").json
            #expect(rows == [])
            #expect(bench.output.notices.contains { $0.contains("\(path) is damaged") }, "\(bench.output.notices)")
        }
    }

    @Test("A step that never ends times out, and the run goes on")
    func limit() async throws {
        try await TestWorkbench.withRunner { bench in
            let run = try await bench.run(
                """
                name: slow
                steps: [{id: hang, action: lab.hang, timeout: 50ms, continue-on-error: true}, {id: next, action: lab.echo}]
                """)
            let steps = run.json["steps"]?.array ?? []
            #expect(steps.first?["error"]?["code"] == "bundle.timed-out" && steps.first?["exit"] == 4)
            #expect(steps.last?["status"] == "ok" && run.exit == .done)
        }
    }

    @Test("An inner bundle times out with the same error", arguments: ["timeout: 50ms", ""])
    func innerLimit(outer: String) async throws {
        try await TestWorkbench.withRunner { bench in
            try bench.write(
                "name: inner\n\(outer.isEmpty ? "timeout: 50ms" : "")\nsteps: [{action: lab.wait}]", to: "inner.yaml")
            let run = try await bench.run("name: slow\nsteps: [{id: in, bundle: inner.yaml, \(outer)}]")
            let error = run.json["steps"]?.array?.last?["error"]
            #expect(error?["code"] == "bundle.timed-out" && run.exit == .unreachable)
            #expect(error?["message"] == "the step did not finish within its timeout of 50ms")
        }
    }

    @Test("A question uses an answer given in advance, or the step fails", arguments: [true, false])
    func answers(given: Bool) async throws {
        try await TestWorkbench.withRunner { bench in
            if given { bench.person = HeadlessInteraction(answers: ["lab.name": "Ada"]) }
            let run = try await bench.run("{name: asks, steps: [{action: lab.ask}]}")
            #expect(run.exit == (given ? .done : .unanswered))
            #expect(run.json["steps"]?[0]?["result"] == (given ? "Ada" : nil))
        }
    }

    @Test("A failed run is resumed without repeating finished steps")
    func resume() async throws {
        try await TestWorkbench.withRunner { bench in
            let text = """
                name: again
                permissions: {paths: ["\(bench.folder)"]}
                steps:
                  - {id: first, action: lab.echo, with: {value: 1}}
                  - {id: second, action: file.read, with: {path: "\(bench.folder)/later.txt"}}
                outputs: {text: "${{ steps.second.result.text }}"}
                """
            #expect(try await bench.run(text).exit != .done)
            try bench.write("now it is here", to: "later.txt")
            LabFeature.reset(bench.folder)
            let run = try await bench.perform("run.start", ["resume": "last", "again": true])
            #expect(run.json["outputs"]?["text"] == "now it is here" && run.exit == .done)
            #expect(LabFeature.counts(bench.folder).calls == 0)
            #expect(try await bench.perform("runs.list").json.array?.count == 1)
            await #expect(throws: (any Error).self) { try await bench.perform("run.start", ["resume": "last"]) }
        }
    }

    @Test("--plan, --check and --schema run nothing")
    func withoutRunning() async throws {
        try await TestWorkbench.withRunner { bench in
            let text =
                "{name: p, steps: [{id: a, matrix: {n: [1, 2, 3]}, action: lab.echo}, {id: b, action: lab.echo}]}"
            let plan = try await bench.run(text, ["plan": true])
            #expect(plan.json[0]?["runs"] == 3 && plan.json[1]?["needs"] == ["a"])
            #expect(bench.output.events.last?.text?.contains("lab.echo") == true)
            #expect(try await bench.run(text, ["check": true]).exit == .done)
            #expect(try await bench.perform("run.start", ["schema": true]).json["properties"]?["steps"] != nil)
            let failure = try await bench.failure(ofBundle: text, ["check": true, "plan": true])
            #expect(failure?.message == "--plan and --check cannot be combined" && failure?.exit == .usage)
            #expect(LabFeature.counts(bench.folder).calls == 0)
        }
    }

    @Test("The requested reports are written, and GitHub gets an annotation of the failure")
    func reports() async throws {
        try await TestWorkbench.withRunner { bench in
            bench.environment.merge([
                "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "\(bench.folder)/summary.md",
                "GITHUB_WORKSPACE": bench.folder,
            ]) { $1 }
            try bench.write("before\n", to: "summary.md")
            let run = try await bench.run(
                "name: red\nsteps:\n  - {id: ok, action: lab.echo}\n  - id: bad\n    action: lab.fail\n",
                [
                    "junit": .string("\(bench.folder)/out/junit.xml"), "html": .string("\(bench.folder)/out/run.html"),
                    "report": .string("\(bench.folder)/out/run.json"),
                ])
            #expect(run.exit == .toolFailed)
            #expect(try bench.read("out/junit.xml").contains("<testsuite name=\"red\""))
            #expect(try bench.read("out/run.html").contains("<title>red: failed</title>"))
            #expect(try JSON(parsing: bench.read("out/run.json")) == run.json)
            #expect(try bench.read("summary.md").hasPrefix("before\n### red: failed"))
            let told = bench.output.events.compactMap(\.text).joined()
            #expect(told.contains("::error file=b.yaml,line=5,col=13,title=bad::it broke\n"))

            // Text from a model or a file must not become a workflow command.
            bench.output = RecordingOutput()
            _ = try await bench.run(
                """
                name: green
                steps: [{action: run.expect, continue-on-error: true, with: {that: false, message: "a\\n::set-output name=x::1"}}]
                outputs: {r: "one\\r\\n::set-output name=y::2\\n  ::add-mask::r"}
                """)
            var end: Substring?
            var commands: [Substring] = []
            for line in bench.output.events.compactMap(\.text).joined().split(whereSeparator: \.isNewline) {
                if let closing = end {
                    if line == closing { end = nil }
                } else if let stop = line.firstRange(of: "::stop-commands::") {
                    end = "::\(line[stop.upperBound...])::"
                } else if line.drop(while: \.isWhitespace).hasPrefix("::") {
                    commands.append(line)
                }
            }
            #expect(end == nil && commands.count == 1 && commands.first?.hasPrefix("::warning file=b.yaml") == true)
        }
    }
}
