import Capabilities
import CoreTesting
import FileKit
import HostTesting
import JSON
import MCPKit
import MCPServers
import Registry
import Testing

@testable import MCP

/// Tools and all else of a server, asked by hand.
struct CallTests {
    private func call(_ bench: TestWorkbench, _ tool: String, _ words: String...) async throws -> TestResult {
        try await bench.attempt(
            "mcp.call",
            ["server": "plain", "tool": .string(tool), "arguments": .array(words.map { .string($0) })])
    }

    @Test("the words after the tool are read by its schema")
    func words() async throws {
        try await Plain.bench { (bench) async throws in
            let result = try await call(
                bench, "echo", "--text", "ab", "--times=2", "--loud", "--labels", "x", "--labels", "y")
            #expect(result["text"] == "ABAB" && result["structured"] == ["said": "abab"] && result["is_error"] == false)
            #expect(try await call(bench, "echo", "--text", "-x", "--no-loud")["text"] == "-x")
            #expect(try await call(bench, "echo", #"{"text": "json", "times": 2}"#)["text"] == "jsonjson")
            let piped = try await bench.perform(
                "mcp.call", ["server": "plain", "tool": "echo", "input": #"{"text": "piped"}"#])
            #expect(piped["text"] == "piped")
        }
    }

    @Test(
        "words that do not fit are refused before the server sees them",
        arguments: [
            (["--txt", "a"], "text"), (["--text"], "value"), (["a"], "options such as"),
            (["--text", "a", "--times", "b"], "integer"),
            ([], "text"), (["--text", "a", "--mood", "fine"], "mood"), (["{"], "JSON"), (["--no-text"], "no-text"),
        ] as [([String], String)])
    func refuses(_ words: [String], _ reason: String) async throws {
        try await Plain.bench { (bench) async throws in
            let arguments: JSON = .array(words.map { .string($0) })
            let failure = try await bench.failure(
                "mcp.call", ["server": "plain", "tool": "echo", "arguments": arguments])
            #expect(
                failure?.code == "mcp.tool-arguments" && failure?.message.contains(reason) == true,
                "\(failure?.message ?? "")")
        }
    }

    @Test("a tool tells what it takes, and a wrong name the nearest one")
    func help() async throws {
        try await Plain.bench { (bench) async throws in
            let help = try await call(bench, "echo", "--help")["text"]?.string ?? ""
            #expect(help.contains("--text") && help.contains("required") && help.contains("good, bad"))
            let failure = try await call(bench, "ecco").failure
            #expect(failure?.code == "mcp.tool-unknown" && failure?.message.contains("echo") == true)
        }
    }

    @Test("a tool that failed is exit code 5, and its text is the result")
    func fails() async throws {
        try await Plain.bench { (bench) async throws in
            let result = try await call(bench, "fail")
            #expect(result.error == nil && result["is_error"] == true && result["text"] == "it went wrong")
            #expect(result.exit == .toolFailed)
        }
    }

    @Test("a server gets the usual variables and its own, and none of ours")
    func environment() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            bench.environment = ["SECRET_TOKEN": "canary", "CITY": "Bern", "OPENAI_API_KEY": "canary"]
            try bench.write(
                settings: Plain.settings(Plain.entry(more: ["env": ["PLACE": "${CITY}", "OTHER": "${NONE:-x}"]])))
            let text = try await call(bench, "environment")["text"]?.string ?? ""
            #expect(text.contains("PLACE=Bern") && text.contains("OTHER=x") && text.contains("PATH="))
            #expect(!text.contains("canary") && !text.contains("MARTLET"))
            try bench.write(settings: Plain.settings(Plain.entry(more: ["env": ["PLACE": "${NOWHERE}"]])))
            let failure = try await call(bench, "environment").failure
            #expect(failure?.code == "mcp.variable-missing" && failure?.message.contains("env.PLACE") == true)
        }
    }

    @Test("a server that dies in a call is told with its last words, and started again for the next")
    func dies() async throws {
        try await Plain.bench { (bench) async throws in
            try await bench.open { (session) async throws in
                let died = await session.attempt("mcp.call", ["server": "plain", "tool": "die"])
                #expect(
                    died.failure?.message.contains("plain") == true && died.failure?.message.contains("no more") == true
                )
                let next = await session.attempt(
                    "mcp.call", ["server": "plain", "tool": "echo", "arguments": ["--text", "again"]])
                #expect(next["text"] == "again")
            }
            let log = try await bench.perform("mcp.logs", ["name": "plain"]).json.array ?? []
            #expect(log.contains { $0["kind"] == "stderr" && $0["text"] == "no more" })
            #expect(log.contains { $0["text"]?.string?.contains("exit code 7") == true })
        }
    }

    @Test("a server that ends again and again is given up, with the limit in the message")
    func unstable() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            try bench.write(settings: Plain.settings(Plain.entry(), more: ["restarts": 1]))
            try await bench.open { (session) async throws in
                for _ in 1...2 {
                    let died = await session.attempt("mcp.call", ["server": "plain", "tool": "die"])
                    #expect(died.failure?.code == "mcp.closed")
                }
                let third = await session.attempt("mcp.call", ["server": "plain", "tool": "die"])
                #expect(third.failure?.code == "mcp.server-unstable")
                #expect(third.failure?.message.contains("mcp.restarts") == true)
            }
        }
    }

    @Test("a silent server is given up after the limit, and its name is told")
    func silent() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            try bench.write(settings: Plain.settings(Plain.entry("silent", more: ["start-limit": "200ms"])))
            let failure = try await call(bench, "echo").failure
            #expect(failure?.message.contains("plain") == true && failure?.exit == .unreachable)
        }
    }

    @Test("rubbish before the first message is passed over")
    func noisy() async throws {
        try await Plain.bench("noisy") { (bench) async throws in
            #expect(try await call(bench, "echo", "--text", "x")["text"] == "x")
        }
    }

    @Test("progress of a call is shown")
    func progress() async throws {
        try await Plain.bench { (bench) async throws in
            let output = RecordingOutput()
            let result = try await bench.perform(
                "mcp.call", ["server": "plain", "tool": "count", "arguments": ["--to", "3"]], to: output)
            #expect(result["text"] == "counted")
            #expect(output.progress.contains { $0.activity == "step 3" && $0.completed == 3 && $0.total == 3 })
        }
    }

    @Test("the messages of a call are shown in both directions")
    func traces() async throws {
        try await Plain.bench { (bench) async throws in
            let output = RecordingOutput()
            let result = try await bench.perform(
                "mcp.call", ["server": "plain", "tool": "echo", "arguments": ["--text", "x"], "trace": true], to: output
            )
            #expect(result["text"] == "x")
            #expect(output.notices.contains { $0.hasPrefix("> ") && $0.contains("tools/call") })
            #expect(output.notices.contains { $0.hasPrefix("< ") && $0.contains("structuredContent") })
        }
    }

    @Test("a call is in the audit log before it is made, and is not made without that")
    func recorded() async throws {
        try await Plain.bench { (bench) async throws in
            bench.features.append(BuiltInFeature(AuditLogFeature.self))
            try await bench.open { (session) async throws in
                let log = try #require(session.registry.optional((any AuditLog).self) as? RecordingAuditLog)
                let echo: JSONObject = ["server": "plain", "tool": "echo", "arguments": ["--text", "x"]]
                try await session.perform("mcp.call", echo)
                _ = await session.attempt("mcp.call", ["server": "plain", "tool": "fail"])
                _ = await session.attempt("mcp.call", ["server": "plain", "tool": "die"])
                #expect(log.recorded.map(\.subject) == ["echo", "fail", "die"])
                #expect(log.recorded.map(\.outcome) == ["done", "failed", "failed"])
                #expect(log.recorded[0].source == "plain" && log.recorded[0].detail["input"] == ["text": "x"])
                log.fail(with: ServerError(.badFile, "the disk is full"))
                let refused = await session.attempt("mcp.call", ["server": "plain", "tool": "die"])
                #expect(refused.failure?.code == "mcp.call-unrecorded")
                #expect(refused.failure?.message.contains("the disk is full") == true)
                // It was not called: it is still there.
                log.fail(with: nil)
                try await session.perform("mcp.call", echo)
                let lines = try await session.perform("mcp.logs", ["name": "plain"]).json.array ?? []
                #expect(lines.count { $0["text"]?.string?.hasPrefix("starting") == true } == 2)
            }
        }
    }

    @Test("a bundle calls only the tools that it names")
    func bundles() async throws {
        try await Plain.bench { (bench) async throws in
            try await bench.open { (session) async throws in
                let action = try session.registry.actions.find("mcp.call")
                for (tools, isAllowed) in [([], false), (["plain/fail"], false), (["plain/*"], true)] {
                    let grant = Grant(Grant.Layer(.bundle("b"), effects: .writes, tools: tools))
                    let caller = Caller.person(HeadlessInteraction()).narrowed(by: grant)
                    let arguments: JSONObject = ["server": "plain", "tool": "echo", "arguments": ["--text", "x"]]
                    do {
                        _ = try await session.session.perform(
                            action.id, arguments, as: caller, output: RecordingOutput())
                        #expect(isAllowed)
                    } catch let error as AccessFailure {
                        #expect(!isAllowed && error.message.contains("plain/echo"))
                        #expect(error.mend.contains("permissions"), "It says what to add.")
                    }
                }
            }
        }
    }

    @Test("a question of a server is answered by the person, and one for a secret by nobody")
    func forms() async throws {
        try await Plain.bench { (bench) async throws in
            bench.person = HeadlessInteraction(answers: [
                "mcp.form": true, "mcp.form.city": "Bern", "mcp.form.password": "x",
            ])
            #expect(try await call(bench, "form", "--field", "city")["text"]?.string?.contains("Bern") == true)
            let output = RecordingOutput()
            let declined = try await bench.perform(
                "mcp.call", ["server": "plain", "tool": "form", "arguments": ["--field", "password"]], to: output)
            #expect(declined["text"]?.string?.contains("decline") == true)
            #expect(output.notices.contains { $0.contains("password") && $0.contains("secret") })
            bench.person = HeadlessInteraction()
            #expect(try await call(bench, "form", "--field", "city")["text"]?.string?.contains("cancel") == true)
        }
    }

    @Test("where forms are shown, one has all arguments of a tool, and one all that a server asks for")
    func wholeForms() async throws {
        try await Plain.bench { (bench) async throws in
            let person = ScriptedPerson(
                ["mcp.call": [["text": "ab", "times": 2, "loud": true]], "mcp.form": [["city": "Bern"]]],
                showsForms: true)
            bench.person = person
            #expect(try await call(bench, "echo")["text"] == "ABAB")
            guard case .form(let form)? = person.questions.first?.kind else {
                Issue.record("\(person.questions)")
                return
            }
            #expect(form.fields.map(\.name) == ["text", "times", "loud", "labels", "mood"])
            #expect(try await call(bench, "form", "--field", "city")["text"]?.string?.contains("Bern") == true)
            #expect(person.asked == ["mcp.call", "mcp.form"])
            // What was given on purpose is not asked about again.
            bench.person = ScriptedPerson(showsForms: true)
            #expect(try await call(bench, "echo", "--text", "ab")["text"] == "ab")
            let reluctant = ScriptedPerson(
                showsForms: true, otherwise: .answers { throw InteractionError.declined(id: $0.id) })
            bench.person = reluctant
            #expect(try await call(bench, "form", "--field", "city")["text"]?.string?.contains("decline") == true)
        }
    }

    @Test("types that refer to themselves end")
    func endless() throws {
        let schema: JSON = ["properties": ["a": ["anyOf": [["$ref": "#/properties/a"]]]]]
        let tool = try #require(MCPTool(listed: ["name": "t", "inputSchema": schema]))
        #expect(try ToolWords(tool).arguments(["--a", "x"]) == ["a": "x"])
    }

    @Test("on a terminal only what is missing is asked for")
    func missing() async throws {
        try await Plain.bench { (bench) async throws in
            let person = ScriptedPerson(["mcp.call.text": ["ab"]])
            bench.person = person
            #expect(try await call(bench, "echo", "--times", "2")["text"] == "abab")
            #expect(person.asked == ["mcp.call", "mcp.call.text"] || person.asked == ["mcp.call.text"])
        }
    }

    @Test("a server may not ask a model unless a setting names one")
    func sampling() async throws {
        try await Plain.bench { (bench) async throws in
            #expect(try await call(bench, "sample")["text"]?.string?.contains("-32601") == true)
        }
    }

    @Test("a server says that it is there")
    func pings() async throws {
        try await Plain.bench { (bench) async throws in
            #expect(try await bench.perform("mcp.ping", ["server": "plain"])["version"] == "1.0")
            #expect(try await bench.perform("mcp.resources", ["server": "plain"]).json == [])
            #expect(
                try await bench.failure("mcp.read", ["server": "plain", "address": "a://b"])?.code == "mcp.unsupported")
        }
    }
}
