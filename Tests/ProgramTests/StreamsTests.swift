import Glibc
import Testing

@Suite("With its streams in any state the program", .timeLimit(.minutes(5)))
struct StreamsTests {
    @Test(
        "ends as it must",
        arguments: [
            ("$M version >&-", 1, "cannot write the result"),
            ("$M version >/dev/full", 1, "no space left on device"),
            ("$M help >/dev/full", 1, "no space left on device"),
            ("$M --json version >/dev/full", 1, #""code":"output.failed""#),
            ("$M version 2>&-", 0, nil),
            ("$M versoin 2>&-", 2, nil),
            ("$M version <&-", 0, nil),
            ("$M version <&- 2>&-", 0, nil),
            ("$M version <&- >&- 2>&-", 1, nil),
            ("$M version </dev/null", 0, nil),
        ] as [(String, Int32, String?)])
    func streams(script: String, code: Int32, message: String?) async throws {
        try await withHome { home in
            let run = try await Program.martlet.shell(script, home: home)
            #expect(run.code == code)
            if let message {
                #expect(run.errors.contains(message))
                #expect(run.errors.lines.count == 1)
            } else {
                #expect(run.errors == "")
            }
            if script.contains("2>&-") { #expect(!run.output.contains("martlet: ")) }
        }
    }

    @Test("begins a line for each tool where the answer and the messages are read together")
    func together() async throws {
        try await withHome { home in
            try write("TODO: one\n", to: "\(home)/work/a.txt")
            let run = try await Program.martlet.shell(
                "cd work && $M ask -m martlet --tools 'Find the TODOs, then read a.txt' 2>&1", home: home)
            let tools = ["search “", "read a.txt"]
            let lines = run.output.lines.filter { line in tools.contains { line.contains($0) } }
            #expect(lines.count >= 2, "\(run.output)")
            #expect(lines.allSatisfy { line in tools.contains { line.hasPrefix($0) } }, "\(run.output)")
        }
    }

    @Test("says that it may open too few files", arguments: [6, 8, 10, 12]) func fewFiles(limit: Int) async throws {
        try await withHome { home in
            try write("name: b\nsteps: [{id: v, action: version}]\n", to: "\(home)/b.yaml")
            for command in ["run b.yaml", "ask hi"] {
                let run = try await Program.martlet.shell("ulimit -n \(limit); exec $M \(command)", home: home)
                #expect(run.code == 1)
                #expect(run.errors.contains("ulimit -n"), "\(run.errors)")
            }
        }
    }

    @Test("says that a disk is full also when the output came bit by bit", arguments: ["text", "ndjson"])
    func fullWhileRunning(format: String) async throws {
        try await withHome { home in
            try write("name: b\nsteps: [{id: v, action: version}]\n", to: "\(home)/b.yaml")
            let run = try await Program.martlet.shell("$M run b.yaml --format \(format) >/dev/full", home: home)
            #expect(run.code == 1)
            #expect(run.errors.contains("no space left on device"))
        }
    }

    @Test(
        "ends quietly with 0 when nobody reads any more",
        arguments: ["$M flood", "$M flood --format ndjson", "$M count 100000"])
    func closedPipe(command: String) async throws {
        let script = "{ \(command.replacing("$M ", with: "$M lab ")); echo $? >code; } | head -n 1; cat code"
        try await withHome { home in
            let run = try await Program.bench.shell(script, home: home)
            #expect(run.output.lines.last == "0")
            #expect(run.output.lines.count == 2)
            #expect(!run.errors.contains("test-bench:"))
        }
    }

    @Test("ends quietly when the reader was gone before it began") func readerGone() async throws {
        try await withHome { home in
            let run = try await Program.martlet.shell(
                "mkfifo gone; { read line <gone; $M docs markdown; echo $? >code; } | exec true & echo go >gone; wait; cat code",
                home: home)
            #expect(run.output == "0\n")
            #expect(run.errors == "")
        }
    }

    @Test(
        "colours only what should be coloured",
        arguments: [
            ([:], [], false), (["CLICOLOR_FORCE": "1"], [], true),
            (["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], [], false),
            (["NO_COLOR": "1"], ["--color", "always"], true),
            (["CLICOLOR_FORCE": "1", "TERM": "dumb"], ["--color=never"], false),
            (["CLICOLOR_FORCE": "1"], ["--json"], false), (["CLICOLOR_FORCE": "0"], [], false),
        ] as [([String: String], [String], Bool)])
    func color(variables: [String: String], words: [String], isColored: Bool) async throws {
        try await withHome { home in
            let run = try await Program.martlet.run(["features"] + words, home: home, adding: variables)
            #expect(run.code == 0)
            #expect(run.output.contains("\u{1B}[") == isColored)
            let failed = try await Program.martlet.run(["versoin"] + words, home: home, adding: variables)
            #expect(failed.errors.contains("\u{1B}[") == isColored)
        }
    }

    @Test("does not take a command whose words cannot be read for none", .enabled(if: geteuid() == 0))
    func withoutProc() async throws {
        try await withHome { home in
            for words in ["version", "nonsense-command", ""] {
                let run = try await Program.martlet.shell(
                    "exec unshare -m sh -c 'mount --make-rprivate / && umount -l /proc && exec \"$M\" \(words)'",
                    home: home)
                #expect(run.code == 2)
                #expect(run.output == "")
                #expect(run.errors.contains("/proc"))
            }
        }
    }
}
