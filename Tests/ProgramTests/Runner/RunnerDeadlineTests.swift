import FileKit
import Glibc
import HTTPTesting
import JSON
import ProcessKit
import Testing

/// A run always ends with the documented exit code, even if something never answers.
@Suite("Run timeouts", .timeLimit(.minutes(5)))
struct RunnerDeadlineTests {
    enum Phase: CaseIterable, Sendable {
        case connection, head, body, stream
    }

    private let asks = """
        name: asks
        permissions: {effects: writes}
        steps:
          - {id: ask, action: chat.send, with: {message: x, model: openai/gpt-5, no-save: true}, timeout: 500ms}
        """

    @Test("A run exits with 4 if a server stops answering at any point", arguments: Phase.allCases)
    func server(phase: Phase) async throws {
        try await ChatHome.with({ connection in
            switch phase {
            case .connection: break
            case .head:
                _ = try connection.receiveRequest()
                try connection.send("HTTP/1.1 200 OK\r\n")
            case .body:
                _ = try connection.receiveRequest()
                try connection.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
            case .stream:
                _ = try connection.receiveRequest()
                try connection.beginEvents()
            }
            try connection.stall()
        }) { chat in
            let home = RunnerHome(path: chat.path, top: chat.path, variables: chat.variables)
            try home.write(asks)
            let run = try await home.martlet("run", "b.yaml", "--json")
            #expect(run.code == 4)
            #expect(try run.output.json()["error"]?["code"] == "bundle.timed-out")
        }
    }

    @Test("A run exits with 1 at the timeout of the bundle") func bundle() async throws {
        try await withSilentServer { home in
            try home.write("timeout: 500ms\n" + asks.replacing(", timeout: 500ms", with: ""))
            let run = try await home.martlet("run", "b.yaml", "--json")
            #expect(run.code == 1)
            #expect(try run.output.json()["error"]?["code"] == "bundle.timed-out")
        }
    }

    @Test("A run exits with 4 at the timeout of the command") func command() async throws {
        try await withSilentServer { home in
            try home.write(asks.replacing(", timeout: 500ms", with: ""))
            let run = try await home.martlet("run", "b.yaml", "--json", "--timeout", "500ms")
            #expect(run.code == 4 && run.errors.contains("host.timed-out"))
        }
    }

    @Test("A run exits with 2 before it starts if the vault needs its passphrase") func passphrase() async throws {
        try await RunnerHome.with { home in
            let stored = try await Program.martlet.run(
                ["auth", "secret", "set", "demo", "--value-stdin"], home: home.path,
                adding: home.variables.merging(["MARTLET_PASSPHRASE": "open sesame"]) { $1 }, input: "4711-4711")
            #expect(stored.code == 0, "\(stored.errors)")
            try home.write(
                "{name: locked, env: {key: {secret: demo}}, permissions: {secrets: [demo]}, steps: [{action: version}]}"
            )
            let run = try await home.martlet("run", "b.yaml")
            #expect(run.code == 2 && run.output == "")
            #expect(run.errors.contains("b.yaml:1:"), "\(run.errors)")
            #expect(try await home.martlet("run", "b.yaml", adding: ["MARTLET_PASSPHRASE": "open sesame"]).code == 0)
        }
    }

    @Test("A run exits with 3 without asking if a server's certificate is unknown")
    func trust() async throws {
        let tls = try ScriptedTLS(TestCertificates.shared().selfSigned)
        try await ScriptedServer.run(tls: tls, { try $0.answer(streaming: ["never heard"]) }) { server in
            try await RunnerHome.with { home in
                var home = home
                home.variables["OPENAI_BASE_URL"] = "https://127.0.0.1:\(server.port)/v1"
                home.variables["OPENAI_API_KEY"] = "sk-test-0123456789abcdefghij"
                try home.write(asks.replacing("500ms", with: "1m"))
                try await expectUnasked(home, code: 3, saying: "martlet auth trust add")
                #expect(server.record.requests.isEmpty)
            }
        }
    }

    @Test("A run exits with 6 without asking if a model calls a tool that needs approval")
    func approval() async throws {
        try await RunnerHome.with { home in
            // Commands do not run in a home itself.
            var home = home
            home.variables["HOME"] = home.top
            try home.write(works("touch done", permissions: "effects: writes", timeout: "1m"))
            try await expectUnasked(home, code: 6, saying: "failed")
            #expect(!Files.exists("\(home.path)/done"))
            try home.write(works("touch done", permissions: "effects: writes, tools: ['files/*']", timeout: "1m"))
            try await expectUnasked(home, code: 0, saying: "ok")
            #expect(Files.exists("\(home.path)/done"))
        }
    }

    @Test("A run exits with 4 and kills a command that ignores every signal")
    func child() async throws {
        try await RunnerHome.with { home in
            // Commands do not run in a home itself.
            var home = home
            home.variables["HOME"] = home.top
            let sleep = "93\(getpid()).5"
            let command = "trap '' INT TERM HUP; echo > begun; exec sleep \(sleep)"
            try home.write(works(command, permissions: "effects: writes, tools: ['files/*']", timeout: "3s"))
            let run = try await home.martlet("run", "b.yaml", "--json")
            #expect(run.code == 4, "\(run.output)\(run.errors)")
            #expect(try run.output.json()["error"]?["code"] == "bundle.timed-out")
            #expect(Files.exists("\(home.path)/begun"))
            // Nothing waits for it any more, so it must have ended by itself.
            while try !Processes.with("sleep\u{0}\(sleep)").isEmpty {}
        }
    }

    /// A bundle in which the built-in model runs a command.
    private func works(_ command: String, permissions: String, timeout: String) -> String {
        """
        name: works
        permissions: {\(permissions)}
        steps:
          - action: chat.send
            with: {message: "run `\(command)`", model: martlet/martlet-offline, no-save: true}
            timeout: \(timeout)
        """
    }

    /// Runs the bundle at a terminal, where any other command would ask.
    private func expectUnasked(_ home: RunnerHome, code: Int32, saying words: String) async throws {
        try await Conversation.with(.martlet, "$M run b.yaml; echo code $?", home: home.path, adding: home.variables) {
            terminal in
            let shown = try await terminal.wait(for: "code \(code)\r\n")
            #expect(shown.contains(words), "\(shown)")
        }
    }

    @Test("A run that reads inputs from a pipe ends at once when interrupted") func inputs() async throws {
        try await RunnerHome.with { home in
            try home.write("{name: open, inputs: {who: {}}, steps: [{action: version}]}")
            var command = Program.martlet.command(
                ["run", "b.yaml", "--inputs", "-"], home: home.path, adding: home.variables)
            command.input = .pipe
            command.output = .null
            try await Launcher.standalone.withChild(command) { child in
                // This is more than a pipe holds, so it is written completely only if it is read.
                try await child.input.write(Array(repeating: UInt8(ascii: "#"), count: 1 << 20))
                let sent = ContinuousClock.now
                child.send(.interrupt)
                #expect(try await child.exitStatus() == .exited(130))
                // Otherwise the wait would have timed out.
                #expect(ContinuousClock.now - sent < .seconds(10))
            }
        }
    }

    @Test("A run does not wait for open standard input") func input() async throws {
        try await RunnerHome.with { home in
            try home.write("{name: open, steps: [{action: version}]}")
            var command = Program.martlet.command(["run", "b.yaml"], home: home.path, adding: home.variables)
            command.input = .pipe
            command.output = .null
            // The pipe is closed only after the program has ended.
            let status = try await Launcher.standalone.withChild(command) { try await $0.exitStatus() }
            #expect(status == .exited(0))
        }
    }

    @Test("A run exits with 143 on SIGTERM even if its output is not read")
    func stalledOutput() async throws {
        try await RunnerHome.with { home in
            try home.write(
                """
                name: stalled
                permissions: {effects: writes}
                steps: [{id: all, foreach: "${{ range(5000) }}", action: run.no-op}]
                finally: [{action: file.write, with: {path: done.txt, text: "run failed: ${{ run.failed }}"}}]
                """)
            let status = try await home.running("run", "b.yaml", "--format", "ndjson") { child in
                try await child.wait(for: "run_started")
                child.send(.terminate)
                return try await child.exitStatus()
            }
            #expect(status == .exited(143))
            #expect(try home.read("done.txt") == "run failed: true")
            #expect(try await home.martlet("runs", "--json").output.json()[0]?["status"] == "cancelled")
        }
    }

    @Test("A run continues to its end if its output is closed") func output() async throws {
        try await RunnerHome.with { home in
            try home.write(
                """
                name: unread
                permissions: {actions: [file.write]}
                steps: [{action: version}, {action: file.write, with: {path: done.txt, text: done}}]
                """)
            _ = try await Program.martlet.shell("$M run b.yaml | true", home: home.path, adding: home.variables)
            #expect(try await home.martlet("runs", "--json").output.json()[0]?["status"] == "ok")
            #expect(try home.read("done.txt") == "done")
        }
    }
}
