import FileKit
import Glibc
import JSON
import ProcessKit
import Testing

@Suite("martlet run", .timeLimit(.minutes(5)))
struct RunnerStoryTests {
    // row W-07
    @Test("A bundle runs, and the journal has its steps") func story() async throws {
        try await RunnerHome.with { home in
            try home.write(
                """
                name: story
                inputs: {who: {}}
                permissions: {actions: [file.write]}
                steps:
                  - {id: version, action: version}
                  - {id: pick, matrix: {n: [1, 2, 3], exclude: [{n: 2}]}, action: run.expect, with: {that: "${{ matrix.n != 2 }}"}}
                  - {id: keep, action: file.write, with: {path: out.txt, text: "${{ inputs.who }} has ${{ steps.version.result.name }}"}}
                outputs: {size: "${{ steps.keep.result.size }}"}
                """)
            let run = try await home.martlet(
                "run", "b.yaml", "--input", "who=Ada", "--junit", "j.xml", "--html", "r.html")
            #expect(run.code == 0, "\(run.errors)")
            #expect(run.output.lines.dropLast().last?.hasPrefix("story ok in") == true)
            #expect(run.output.lines.last?.hasPrefix("size: ") == true)
            #expect(try home.read("out.txt") == "Ada has martlet")
            #expect(try home.read("j.xml").contains("pick[n=3]"))
            #expect(try home.read("r.html").contains("Timeline"))
            let list = try await home.martlet("runs", "--json").output.json()
            #expect(list[0]?["status"] == "ok" && list[0]?["steps"] == 5)
            let shown = try await home.martlet("runs", "show", "--json").output.json()
            #expect(shown["steps"]?[0]?["step"] == "version")
            #expect(try await home.martlet("runs", "prune", "--older", "0s", "--yes").code == 0)
            #expect(try await home.martlet("runs", "--json").output.json() == [])
        }
    }

    @Test("Every event is an NDJSON line, with the version first and the result last") func lines() async throws {
        try await RunnerHome.with { home in
            try home.write("{name: lines, steps: [{action: version}]}")
            let run = try await home.martlet("run", "b.yaml", "--format", "ndjson")
            let events = try run.output.lines.map { try $0.json() }
            #expect(
                events.map { $0["type"]?.string ?? "" }
                    == ["run_started", "step_started", "step_ended", "run_ended", "result"])
            #expect(events[0]["version"] == 1 && events[4]["result"]?["status"] == "ok")
        }
    }

    @Test("A terminal shows the progress and the result") func terminal() async throws {
        try await RunnerHome.with { home in
            try home.write(
                "{name: shown, steps: [{id: one, action: version}, {id: many, matrix: {n: [1, 2]}, action: version}]}")
            try await Conversation.with(.martlet, "$M run b.yaml", home: home.path, adding: home.variables) {
                terminal in
                try await terminal.wait(for: "one")
                try await terminal.wait(for: "2 of 2")
                try await terminal.wait(for: "shown ok in")
            }
        }
    }

    @Test("--quiet prints nothing on success, and the error on failure")
    func quiet() async throws {
        try await RunnerHome.with { home in
            let bundle = "{name: still, steps: [{action: version}, {id: e, action: run.expect, with: {that: true}}]}"
            try home.write(bundle)
            for words in [["run", "b.yaml", "--quiet"], ["-q", "run", "b.yaml", "--check"]] {
                let run = try await Program.martlet.run(words, home: home.path, adding: home.variables)
                #expect(run.code == 0 && run.output == "" && run.errors == "", "\(run.output)\(run.errors)")
            }
            #expect(try await home.martlet("run", "b.yaml", "-q", "--json").output.json()["status"] == "ok")
            try home.write(bundle.replacing("true", with: "false"))
            let bad = try await home.martlet("run", "b.yaml", "--quiet")
            #expect(bad.code == 1 && bad.output.lines.count == 1)
            #expect(bad.output.hasPrefix("still failed in ") && bad.output.contains("the condition is false"))
            #expect(try await home.martlet("run", "c.yaml", "--quiet").errors.contains("c.yaml: no such file"))
        }
    }

    @Test("Inputs come from a file, standard input or a pipe, up to a size limit")
    func inputs() async throws {
        try await RunnerHome.with { home in
            try home.write(
                """
                name: given
                inputs: {who: {}}
                steps: [{id: e, action: run.expect, with: {that: "${{ inputs.who == 'Ada' }}"}}]
                """)
            try home.write("who: Ada\n", "inputs.yaml")
            for line in [
                "$M run b.yaml --inputs inputs.yaml", "$M run b.yaml --inputs - <inputs.yaml",
                "echo '{\"who\": \"Ada\"}' | $M run b.yaml --inputs -",
                "$M run b.yaml --inputs=/dev/fd/3 3<inputs.yaml",
                "mkfifo pipe; cat inputs.yaml >pipe & $M run b.yaml --inputs pipe",
            ] {
                let run = try await Program.martlet.shell(line, home: home.path, adding: home.variables)
                #expect(run.code == 0, "\(line): \(run.output)\(run.errors)")
            }
            for (line, words) in [
                ("yes 'who: Ada' | $M run b.yaml --inputs -", "-: the input is larger than"),
                ("echo 'who: [' | $M run b.yaml --inputs -", "-:2:1: "), ("$M run b.yaml --inputs .", "directory"),
                ("$M run b.yaml --inputs nowhere.yaml", "nowhere.yaml: cannot read it"),
            ] {
                let run = try await Program.martlet.shell(line, home: home.path, adding: home.variables)
                #expect(run.code == 2 && run.errors.contains(words), "\(line): \(run.output)\(run.errors)")
            }
            try await Conversation.with(
                .martlet, "$M run b.yaml --inputs -; echo code $?", home: home.path, adding: home.variables
            ) { terminal in
                let shown = try await terminal.wait(for: "code 2")
                #expect(shown.contains("cannot read from a terminal"))
            }
        }
    }

    @Test("An invalid bundle exits with 2 and lists all errors with file, line and column") func refused()
        async throws
    {
        try await RunnerHome.with { home in
            try home.write("name: Bad\nsteps:\n  - {action: versoin}\n  - {action: file.write, with: {path: 3}}\n")
            let run = try await home.martlet("run", "b.yaml")
            #expect(run.code == 2 && run.output == "")
            #expect(run.errors.contains("b.yaml:1:7: the name must consist of"))
            try home.write("name: bad\nsteps:\n  - {action: versoin}\n  - {action: file.write, with: {path: 3}}\n")
            let other = try await home.martlet("run", "b.yaml", "--check")
            #expect(other.code == 2)
            for words in [
                "b.yaml:3:14: unknown action 'versoin'; did you mean 'version'?", "b.yaml:4:14: file.write writes",
                "needs 'text'",
            ] {
                #expect(other.errors.contains(words), "\(other.errors)")
            }
        }
    }

    @Test(
        "A failed run exits with the code of the first failure, and prints its error as one line",
        arguments: [
            ("run.expect, with: {that: false}", 1, "run.expectation"), ("file.read, with: {path: nowhere}", 1, "file."),
            ("chat.send, with: {message: x, model: openai/gpt-5, no-save: true}", 4, "chat."),
        ] as [(String, Int32, String)])
    func failures(action: String, code: Int32, prefix: String) async throws {
        try await RunnerHome.with { home in
            try home.write("name: f\npermissions: {effects: writes}\nsteps: [{action: \(action)}]")
            // Nothing listens at port 1.
            let run = try await home.martlet(
                "run", "b.yaml", "--json",
                adding: ["OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "sk-none-0123456789"])
            let report = try run.output.json()
            #expect(report["status"] == "failed" && report["exit"] == .int(Int(run.code)))
            #expect(run.code == code, "\(report)")
            #expect(report["error"]?["code"]?.string?.hasPrefix(prefix) == true, "\(report)")
        }
    }

    @Test("A project's bundle runs by name only if it is trusted") func trust() async throws {
        try await RunnerHome.with { home in
            let text = "{name: own, steps: [{action: version}]}"
            try home.write(text, "project/.martlet/bundles/own.yaml")
            func run() async throws -> Program.Run {
                try await Program.martlet.shell("cd project && $M run own", home: home.path, adding: home.variables)
            }
            let refused = try await run()
            #expect(refused.code == 3 && refused.errors.contains("martlet config trust"))
            #expect(try await home.martlet("config", "trust", "project").code == 0)
            #expect(try await run().code == 0)
            try home.write(text.replacing("version", with: "features"), "project/.martlet/bundles/own.yaml")
            #expect(try await run().code == 3)
            #expect(try await home.martlet("run", "project/.martlet/bundles/own.yaml").code == 0)
            #expect(try await home.martlet("run", "nobody").code == 2)
            // Trusting the rejected bundle by its name trusts its project.
            #expect(try await home.martlet("config", "trust", "project/.martlet/bundles/own.yaml").code == 0)
            #expect(try await run().code == 0)
        }
    }

    @Test("A project's bundle can be resumed only while it is trusted")
    func withdrawnTrust() async throws {
        try await RunnerHome.with { home in
            func martlet(_ words: String) async throws -> Program.Run {
                try await Program.martlet.shell(
                    "cd project && $M \(words)", home: home.path, adding: home.variables)
            }
            let bundle = ".martlet/bundles/own.yaml"
            try home.write("{name: own, steps: [{action: run.expect, with: {that: false}}]}", "project/\(bundle)")
            #expect(try await martlet("config trust").code == 0)
            #expect(try await martlet("run own").code == 1)
            #expect(try await martlet("run --resume last").code == 1)
            #expect(try await martlet("config untrust").code == 0)
            let refused = try await martlet("run --resume last")
            #expect(refused.code == 3 && refused.errors.contains("is not trusted"), "\(refused.errors)")
            // A bundle named by its path is permitted, then and now.
            #expect(try await martlet("run --resume last \(bundle)").code == 1)
            #expect(try await martlet("run \(bundle)").code == 1)
            #expect(try await martlet("run --resume last").code == 1)
        }
    }

    @Test("Trusting a project's bundle covers all project bundles that it runs, and nothing elsewhere")
    func companions() async throws {
        try await RunnerHome.with { home in
            func run() async throws -> Program.Run {
                try await Program.martlet.shell("cd project && $M run outer", home: home.path, adding: home.variables)
            }
            try home.write(
                "{name: outer, steps: [{bundle: ../../lib/part.yaml}]}", "project/.martlet/bundles/outer.yaml")
            try home.write("{name: part, steps: [{id: deep, bundle: deep/deep.yaml}]}", "project/lib/part.yaml")
            let deep = "{name: deep, steps: [{action: version}]}"
            try home.write(deep, "project/lib/deep/deep.yaml")
            let trusted = try await home.martlet("config", "trust", "project")
            #expect(trusted.code == 0 && trusted.errors.contains("new: the bundle"))
            #expect(trusted.errors.contains("project/lib/part.yaml") && trusted.errors.contains("lib/deep/deep.yaml"))
            #expect(try await run().code == 0)

            // As after `git pull`: the trusted file is unchanged, but a bundle that it runs has changed.
            let harm =
                "{name: deep, permissions: {effects: writes}, steps: [{action: file.write, with: {path: x, text: y}}]}"
            try home.write(harm, "project/lib/deep/deep.yaml")
            let refused = try await run()
            #expect(refused.code == 3 && refused.errors.contains("lib/deep/deep.yaml belongs to a project"))
            #expect(refused.errors.contains("martlet config trust") && !Files.exists("\(home.path)/project/lib/deep/x"))
            // A bundle named by its path is permitted; its permissions still apply.
            #expect(try await home.martlet("run", "project/.martlet/bundles/outer.yaml").code == 2)
            try home.write(deep, "project/lib/deep/deep.yaml")
            #expect(try await run().code == 0)

            // A link that leads out of the project is not part of it, whatever its name is.
            try home.write(deep, "elsewhere.yaml")
            #expect(unsafe symlink("\(home.path)/elsewhere.yaml", "\(home.path)/project/lib/link.yaml") == 0)
            try home.write("{name: part, steps: [{bundle: link.yaml}]}", "project/lib/part.yaml")
            #expect(try await home.martlet("config", "trust", "project").code == 0)
            let out = try await run()
            #expect(out.code == 2 && out.errors.contains("runs only bundles of the project and your own"))
            #expect(try await home.martlet("config", "untrust", "project").code == 0)
            #expect(try await run().code == 3)
        }
    }

    @Test("A run cannot be resumed if an inner bundle has changed", arguments: [false, true])
    func changedInside(isChanged: Bool) async throws {
        try await RunnerHome.with { home in
            try home.write("{name: b, steps: [{bundle: part.yaml}, {action: run.expect, with: {that: false}}]}")
            try home.write("{name: part, steps: [{action: version}]}", "part.yaml")
            #expect(try await home.martlet("run", "b.yaml").code == 1)
            if isChanged { try home.write("{name: part, steps: [{action: features}]}", "part.yaml") }
            let resumed = try await home.martlet("run", "--resume", "last")
            #expect(resumed.code == (isChanged ? 2 : 1))
            #expect(resumed.errors.contains("has changed since that run started") == isChanged, "\(resumed.errors)")
        }
    }

    @Test("A recording is replayed, and differences are reported") func replay() async throws {
        try await RunnerHome.with { home in
            try home.write(
                "{name: taped, steps: [{id: v, action: version}, {id: e, action: run.expect, with: {that: true}}]}")
            #expect(try await home.martlet("run", "b.yaml", "--record", "tape.ndjson").code == 0)
            let same = try await home.martlet("run", "--replay", "tape.ndjson")
            #expect(same.code == 0 && same.output.contains("the run matches the recording"))
            try home.write(
                "{name: taped, steps: [{id: v, action: version}, {id: e, action: run.expect, with: {that: false}}]}")
            let other = try await home.martlet("run", "b.yaml", "--replay", "tape.ndjson")
            #expect(
                other.code == 1 && other.output.contains("e: given {\"that\":false}, recorded {\"that\":true}"))
        }
    }

    @Test("A secret of the vault appears in no output") func secrets() async throws {
        try await RunnerHome.with { home in
            try home.write(
                """
                name: quiet
                permissions: {actions: [file.write], secrets: [demo]}
                env: {key: {secret: demo}}
                steps:
                  - {id: keep, action: file.write, with: {path: key.txt, text: "${{ env.key }}"}}
                  - {id: say, action: run.expect, with: {that: false, message: "the key is ${{ env.key }}"}}
                """)
            let run = try await home.martlet(
                "run", "b.yaml", "--format", "ndjson", "--record", "r.ndjson", "--junit", "j.xml", "--html", "h.html",
                adding: ["DEMO_API_KEY": "very-secret-4711"])
            #expect(run.code == 1)
            #expect(try home.read("key.txt") == "very-secret-4711")
            for text in [
                run.output, run.errors, try home.read("r.ndjson"), try home.read("j.xml"), try home.read("h.html"),
            ] {
                #expect(!text.contains("4711"))
            }
            #expect(run.output.contains("the key is ‹redacted›"))
            let logs = try await home.martlet("runs", "show", "--json").output
            #expect(!logs.contains("4711"))
        }
    }
}
