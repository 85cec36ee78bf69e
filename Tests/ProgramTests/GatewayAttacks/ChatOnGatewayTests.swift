import FileKit
import GatewayTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import ProcessKit
import Testing

/// Repeats Chat's tests with a scripted gateway on a real one, with a profile of kind `gateway` in the settings.
@Suite("Chat with a running gateway", .timeLimit(.minutes(5)))
struct ChatOnGatewayTests {
    /// A home with a profile `lab` for a gateway that runs in another home.
    private struct Desk {
        let gateway: GatewayClient
        let home: GatewayHome

        func martlet(_ words: String..., adding more: [String: String] = [:]) async throws -> Program.Run {
            try await martlet(words, adding: more)
        }

        func martlet(_ words: [String], adding more: [String: String] = [:]) async throws -> Program.Run {
            try await Program.martlet.run(words, home: home.path, adding: home.variables.merging(more) { $1 })
        }

        /// The NDJSON lines of one question.
        func lines(_ words: String...) async throws -> [JSON] { try await lines(words) }

        func lines(_ words: [String]) async throws -> [JSON] {
            let run = try await Program.martlet.run(
                ["ask", "--format", "ndjson"] + words, home: home.path, adding: home.variables)
            #expect(run.code == 0, "\(run.errors)\(run.output)")
            return try run.output.lines.map { try $0.json() }
        }

        func sessions() async throws -> [JSON] {
            try await gateway.json(.get, "/v1/sessions")["data"]?.array ?? []
        }
    }

    private func withDesk(_ chat: String = "", _ body: (Desk) async throws -> Void) async throws {
        try await GatewayClient.with { gateway in
            try await withHome { path in
                let profile = "profiles: {lab: {server: '\(gateway.gateway.address)', kind: 'gateway'}}"
                try write(
                    "{auth: {'keep-unlocked': '0s'}, chat: {model: 'lab'\(chat)}, \(profile)}",
                    to: "\(path)/martlet/config/config.json")
                let variables = [
                    "MARTLET_HOME": "\(path)/martlet", "LAB_API_KEY": GatewayHome.token,
                    "LAB_BASE_URL": gateway.gateway.address, "OLLAMA_HOST": "http://127.0.0.1:1",
                ]
                try await body(Desk(gateway: gateway, home: GatewayHome(path: path, variables: variables)))
            }
        }
    }

    @Test("A streamed and a whole answer are identical")  // row G-16
    func answers() async throws {
        try await withDesk { desk in
            let words = (0..<300).map { "word\($0)" }.joined(separator: " ")
            let run = try await desk.martlet("ask", "repeat: \(words)", "--no-save")
            #expect(run.code == 0, "\(run.errors)")
            #expect(run.output == words + "\n")
            let whole = try await desk.martlet("ask", "--no-stream", "repeat: \(words)", "--no-save")
            #expect(whole.output == run.output, "\(whole.errors)")
        }
    }

    @Test("Chat shows tools that ran on the gateway and does not run them again")  // row G-04
    func rich() async throws {
        try await withDesk { desk in
            let project = try await desk.gateway.makeProject()
            try write("def greet():\n    # TODO: be kind\n", to: "\(project.folder)/greet.py")
            let lines = try await desk.lines("--project", project.id, "find the TODOs")
            let uses = lines.filter { $0["type"] == "tool_use" }
            let results = lines.filter { $0["type"] == "tool_result" }
            #expect(!uses.isEmpty && uses.count == results.count, "\(lines.map { $0.text() })")
            let last = try #require(lines.last)
            #expect(last["type"] == "result" && last["result"]?.string?.contains("be kind") == true)
            #expect(last["num_turns"] == 1)
            // Everything happened there, in one session of that project, which has the usage.
            let session = try #require(try await desk.sessions().first)
            #expect(session["project_id"] == .string(project.id) && (session["total_tokens"]?.int ?? 0) > 0)
            try await desk.gateway.expectSound(session: session["id"]?.string ?? "")
        }
    }

    @Test("A conversation continues its session, even in another process")  // row G-05
    func session() async throws {
        try await withDesk { desk in
            let project = try await desk.gateway.makeProject()
            let first = try await desk.martlet("ask", "--project", project.id, "repeat: one")
            #expect(first.code == 0, "\(first.errors)")
            let second = try await desk.martlet("ask", "--continue", "repeat: two")
            #expect(second.code == 0 && second.output == "two\n", "\(second.output)\(second.errors)")
            let sessions = try await desk.sessions()
            #expect(sessions.count == 1)
            let messages = try await desk.gateway.messages(of: sessions.first?["id"]?.string ?? "")
            #expect(messages.map { $0["content"]?.string } == ["repeat: one", "one", "repeat: two", "two"])
        }
    }

    @Test("An interrupt also stops the turn on the gateway with its command, and keeps the answer so far")  // row G-05
    func stop() async throws {
        try await withDesk { desk in
            let project = try await desk.gateway.makeProject()
            let sleep = "91\(desk.gateway.process).25"
            var command = Program.martlet.command(
                ["ask", "--format", "ndjson", "--project", project.id, "run `echo begun; sleep \(sleep)`"],
                home: desk.home.path, adding: desk.home.variables)
            command.output = .pipe
            try await Launcher.standalone.withChild(command) { child in
                var isAtWork = false
                while !isAtWork, let line = try await child.output.nextLine() {
                    isAtWork = try JSON(parsing: line)["type"] == "tool_use"
                }
                #expect(isAtWork)
                // The arguments of a process are separated by zeros, which tells it from our own.
                while try Processes.with("sleep\u{0}\(sleep)").isEmpty {}
                child.send(.interrupt)
                #expect(try await child.exitStatus().code == 130)
            }
            try await desk.gateway.waitForQuiet()
            while try !Processes.with("sleep\u{0}\(sleep)").isEmpty {}
            let session = try #require(try await desk.sessions().first?["id"]?.string)
            try await desk.gateway.expectSound(session: session)
            let messages = try await desk.gateway.messages(of: session)
            #expect(messages.first?["role"] == "user" && messages.count > 1)
            // The session is still usable.
            let again = try await desk.martlet("ask", "--continue", "repeat: go on")
            #expect(again.code == 0 && again.output == "go on\n", "\(again.output)\(again.errors)")
        }
    }

    // row G-02, G-21, G-22
    @Test("What was chosen for new sessions goes with their first message, and to no gateway that ignores it")
    func chosenTools() async throws {
        try await withDesk { desk in
            let project = try await desk.gateway.makeProject()
            let words = #"use bash.run with {"command": "echo found"}"#
            func usesTools(_ more: String...) async throws -> Bool {
                try await desk.lines(more + [words]).contains { $0["type"] == "tool_use" }
            }
            #expect(try await usesTools("--project", project.id))
            let given = ["mcp", "gateway", "use", "--default", "--off", "files/bash.run", "--audit", "on"]
            let chosen = try await desk.martlet(given)
            #expect(chosen.code == 0, "\(chosen.errors)")
            #expect(try await !usesTools("--project", project.id))
            let sessions = try await desk.sessions().filter { $0["enabled_tools"]?.array != nil }
            #expect(sessions.count == 1 && sessions.first?["audit_log"] == true, "\(sessions)")
            // The next message leaves alone what was chosen for the session since.
            let id = try #require(sessions.first?["id"]?.string)
            #expect(try await desk.martlet(["mcp", "gateway", "use", id, "--reset"]).code == 0)
            #expect(try await usesTools("--continue"))

            try await PlainGateway.run { plain in
                plain.reply("/v1/chat/completions", with: .init(200, Self.hello))
                let server = ["--set", "profiles.lab.server=\(plain.address)"]
                let asked = try await desk.martlet(["ask", "hi"] + server, adding: ["LAB_BASE_URL": plain.address])
                #expect(asked.code == 0 && asked.output == "Hello\n", "\(asked.errors)")
                #expect(asked.errors.contains("was not sent and does not count"), "\(asked.errors)")
                let question = try #require(plain.requests.last { $0.method == "POST" })
                #expect(try JSON(parsing: question.body)["mcp"] == nil)
            }
        }
    }

    private static let hello =
        #"{"object":"chat.completion","model":"m","session_id":"s-1","choices":[{"index":0,"#
        + #""message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}"#

    @Test("Chat lists the gateway's models with their abilities, and suggests them for an unknown model")  // row G-20
    func models() async throws {
        try await withDesk { desk in
            let models = try await desk.martlet("chat", "models", "--json")
            #expect(models.code == 0, "\(models.errors)")
            let listed = try models.output.json().array ?? []
            #expect(
                listed.contains { $0.text().contains("martlet-offline") && $0.text().contains("lab") },
                "\(models.output)")
            let named = try await desk.martlet("ask", "-m", "lab/martlet/martlet-offline", "repeat: named", "--no-save")
            #expect(named.code == 0 && named.output == "named\n", "\(named.output)\(named.errors)")
            let unknown = try await desk.martlet("ask", "-m", "lab/gpt-17", "--json", "hi")
            #expect(unknown.code != 0)
            #expect(unknown.errors.contains("gpt-17"), "\(unknown.errors)")
            #expect(!unknown.errors.contains(GatewayHome.token))
        }
    }

    @Test("A wrong token is reported without printing it")  // row G-06
    func wrongToken() async throws {
        try await withDesk { desk in
            let run = try await desk.martlet("ask", "hi", adding: ["LAB_API_KEY": "wrong-token-0123456789"])
            #expect(run.code == 3, "\(run.errors)")
            #expect(!run.errors.contains("wrong-token-0123456789"))
        }
    }

    @Test("Without a provider, Chat finds the TODOs of a folder itself and says who answers")
    func embedded() async throws {
        try await withHome { path in
            let home = GatewayHome(
                path: path, variables: ["MARTLET_HOME": "\(path)/martlet", "OLLAMA_HOST": "http://127.0.0.1:1"])
            try write("func f() {}  // TODO: name it\n", to: "\(path)/work/a.swift")
            let run = try await Program.martlet.shell(
                "cd work && $M ask 'find the TODOs'", home: path, adding: home.variables)
            #expect(run.code == 0, "\(run.errors)")
            #expect(run.output.contains("name it") && run.output.contains("a.swift"))
            #expect(run.errors.contains("martlet"), "\(run.errors)")
            #expect(try FileTree("\(path)/work").entries.count == 1)
        }
    }
}
