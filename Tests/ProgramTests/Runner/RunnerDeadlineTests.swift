import FileKit
import Glibc
import HTTPTesting
import JSON
import ProcessKit
import Testing

/// What a run does about something that never answers: it always ends, with the documented code.
@Suite("A run in which something never answers", .timeLimit(.minutes(5)))
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

    @Test("ends with 4 when it is the server, wherever it stops", arguments: Phase.allCases)
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

    @Test("ends with 1 when the bundle's own time is over") func bundle() async throws {
        try await withSilentServer { home in
            try home.write("timeout: 500ms\n" + asks.replacing(", timeout: 500ms", with: ""))
            let run = try await home.martlet("run", "b.yaml", "--json")
            #expect(run.code == 1)
            #expect(try run.output.json()["error"]?["code"] == "bundle.timed-out")
        }
    }

    @Test("ends with 4 when the command's own time is over") func command() async throws {
        try await withSilentServer { home in
            try home.write(asks.replacing(", timeout: 500ms", with: ""))
            let run = try await home.martlet("run", "b.yaml", "--json", "--timeout", "500ms")
            #expect(run.code == 4 && run.errors.contains("host.timed-out"))
        }
    }

    @Test("ends with 2, before anything runs, when the vault waits for its passphrase") func passphrase() async throws {
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

    @Test("ends with 3, and asks nobody at the terminal, when a server's certificate is unknown")
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

    @Test("ends with 6, and asks nobody at the terminal, when a model wants to use a tool that needs a yes")
    func approval() async throws {
        try await RunnerHome.with { home in
            // Commands are not run in a home itself.
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

    @Test("ends with 4 when it is a command that ignores every signal, and the command with it")
    func child() async throws {
        try await RunnerHome.with { home in
            // Commands are not run in a home itself.
            var home = home
            home.variables["HOME"] = home.top
            let sleep = "93\(getpid()).5"
            let command = "trap '' INT TERM HUP; echo > begun; exec sleep \(sleep)"
            try home.write(works(command, permissions: "effects: writes, tools: ['files/*']", timeout: "3s"))
            let run = try await home.martlet("run", "b.yaml", "--json")
            #expect(run.code == 4, "\(run.output)\(run.errors)")
            #expect(try run.output.json()["error"]?["code"] == "bundle.timed-out")
            #expect(Files.exists("\(home.path)/begun"))
            // Nobody waits for it any more, so that it has to be gone by itself.
            while try !Processes.with("sleep\u{0}\(sleep)").isEmpty {}
        }
    }

    /// A bundle in which the model that is built in runs a command.
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

    /// Runs the bundle where a person sits at a terminal, who would be asked in any other command.
    private func expectUnasked(_ home: RunnerHome, code: Int32, saying words: String) async throws {
        try await Conversation.with(.martlet, "$M run b.yaml; echo code $?", home: home.path, adding: home.variables) {
            terminal in
            let shown = try await terminal.wait(for: "code \(code)\r\n")
            #expect(shown.contains(words), "\(shown)")
        }
    }

    @Test("ends at once when it is interrupted while inputs come from a pipe") func inputs() async throws {
        try await RunnerHome.with { home in
            try home.write("{name: open, inputs: {who: {}}, steps: [{action: version}]}")
            var command = Program.martlet.command(
                ["run", "b.yaml", "--inputs", "-"], home: home.path, adding: home.variables)
            command.input = .pipe
            command.output = .null
            try await Launcher.standalone.withChild(command) { child in
                // It is more than a pipe holds, so that all of it is written only when it is being read.
                try await child.input.write(Array(repeating: UInt8(ascii: "#"), count: 1 << 20))
                let sent = ContinuousClock.now
                child.send(.interrupt)
                #expect(try await child.exitStatus() == .exited(130))
                // Later it would have been given up.
                #expect(ContinuousClock.now - sent < .seconds(10))
            }
        }
    }

    @Test("does not wait for input that stays open") func input() async throws {
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

    @Test("ends in order with 143 when it is told to, and somebody holds its output and reads nothing")
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

    @Test("goes on to its end when nobody reads what it says") func output() async throws {
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
