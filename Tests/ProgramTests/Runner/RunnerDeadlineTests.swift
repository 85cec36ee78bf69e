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
            let home = RunnerHome(path: chat.path, variables: chat.variables)
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
            try home.write("{name: locked, env: {key: {secret: demo}}, steps: [{action: version}]}")
            let run = try await home.martlet("run", "b.yaml")
            #expect(run.code == 2 && run.output == "")
            #expect(run.errors.contains("b.yaml:1:"), "\(run.errors)")
            #expect(try await home.martlet("run", "b.yaml", adding: ["MARTLET_PASSPHRASE": "open sesame"]).code == 0)
        }
    }

    @Test("does not wait for input that stays open") func input() async throws {
        try await RunnerHome.with { home in
            try home.write("{name: open, steps: [{action: version}]}")
            var command = Program.martlet.command(["run", "b.yaml"], home: home.path, adding: home.variables)
            command.input = .pipe
            command.output = .null
            // The pipe is closed only after the program has ended.
            let status = try await Launcher().withChild(command) { try await $0.exitStatus() }
            #expect(status == .exited(0))
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
