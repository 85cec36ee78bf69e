import Capabilities
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@testable import Chat

@Suite("Event schema", .timeLimit(.minutes(5)))
struct EventSchemaTests {
    /// Compares every event of a command, and its result, with the published schema.
    private func check(_ done: TestResult, _ expected: Set<String>, location: SourceLocation = #_sourceLocation) {
        var lines = done.output.events.map(\.json)
        #expect(expected.isSubset(of: Set(done.types)), "\(done.types)", sourceLocation: location)
        var result: JSONObject = ["type": "result", "is_error": .bool(done.failure != nil)]
        if let failure = done.failure {
            result["error"] = failure.report["error"]
        } else {
            for (name, value) in done.json.object ?? [:] { result[name] = value }
        }
        lines.append(.object(result))
        for line in lines {
            let problems = ChatEvents.lines.problems(in: line)
            #expect(problems.isEmpty, "\(line.text()): \(problems)", sourceLocation: location)
        }
    }

    @Test("An answer with reasoning and text matches the published schema")
    func answer() async throws {
        try await Desk.run(
            answers: Answers.first + Answers.think("Hm.") + Answers.piece("Hi") + Answers.end, Answers.say("Hi")
        ) { desk in
            check(try await desk.say("Hi", ["model": "openai/gpt-5-mini"]), ["init", "reasoning", "message"])
            check(try await desk.run("chat.send", ["no-save": true, "message": "x"]), [])
        }
    }

    @Test("Tools that work, fail, are missing or are denied match the published schema")
    func tools() async throws {
        for name in ["shop_stock", "shop_broken", "nothing", "saw"] {
            try await Desk.run(answers: Answers.call(name, input: ["thing": "nails"]), Answers.say("So.")) { desk in
                check(try await desk.say("Look", ["tools": true]), ["init", "tool_result", "message"])
            }
        }
    }

    @Test("An agent with its own tools matches the published schema")
    func agent() async throws {
        let frames =
            Answers.first + #"data: {"object":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}"# + "\n\n"
            + #"data: {"object":"tool_result","tool_id":"t1","duration_ms":12,"exit_code":0,"content":"a b"}"# + "\n\n"
            + Answers.piece("Done") + Answers.end
        try await Desk.run(answers: frames) { desk in
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            let done = try await desk.say("Hi", ["model": "gateway/agent"])
            check(done, ["init", "tool_use", "tool_result", "message"])
            #expect(done.output.events.contains { $0.fields["by_server"] == true })
        }
    }

    @Test("Failures match the published schema, also one reported before the last line")
    func failures() async throws {
        for answer in [Answers.first + Answers.piece("Hel"), "data: \(Answers.error("broken"))\n\n"] {
            try await Desk.run({ try $0.stream(answer) }) { desk in
                let done = try await desk.attempt("chat.send", ["message": "Hi", "no-stream": true])
                check(done, ["init", "error"])
                #expect(done.output.events.last?.fields["code"]?.string == done.failure?.code)
            }
        }
    }

    @Test("A conversation on a terminal matches the published schema")
    func console() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            desk.person = ScriptedPerson(types: "one", "/clear", "/quit")
            check(try await desk.run("chat.send"), ["init", "message", "turn", "clear"])
            desk.person = ScriptedPerson()
            check(try await desk.run("chat.send"), [])
        }
    }

    @Test("Wrong lines are found")
    func wrong() {
        let wrong: [JSON] = [
            ["type": "surprise"], ["type": "reasoning"], ["type": "reasoning", "delta": 7], [],
            ["type": "init", "model": "m", "provider": "p", "tools": [], "more": 1],
            ["type": "result", "is_error": true, "result": "x"],
        ]
        for line in wrong { #expect(!ChatEvents.lines.problems(in: line).isEmpty, "\(line.text())") }
    }

    @Test("The schema names every type and is printed by an action")
    func schema() async throws {
        try await Desk.run(answers: "") { desk in
            let schema = try await desk.run("chat.events").json
            #expect(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema")
            let kinds = schema["anyOf"]?.array ?? []
            let types = Set(kinds.compactMap { $0["properties"]?["type"]?["const"]?.string })
            #expect(
                types == [
                    "init", "message", "reasoning", "tool_use", "tool_output", "tool_result", "error", "turn", "clear",
                    "result",
                ])
            #expect(kinds.allSatisfy { $0["required"]?.array?.first == "type" })
            #expect(ChatEvents.lines.count == kinds.count)
        }
    }
}
