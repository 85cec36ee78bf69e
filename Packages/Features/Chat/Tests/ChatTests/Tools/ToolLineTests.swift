import Capabilities
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Testing

@testable import Chat

@Suite("Tool lines", .timeLimit(.minutes(5)))
struct ToolLineTests {
    @Test("A line says what was done, or why it failed")
    func own() async throws {
        let read = Answers.call("fs_read", input: ["path": "notes.txt"])
        let missing = Answers.call("fs_read", input: ["path": "gone.txt"])
        try await Desk.run(answers: read, missing, Answers.say("So.")) { desk in
            _ = try desk.write(Array("alpha".utf8), to: "notes.txt")
            let done = try await desk.say("Look", ["tools": true])
            #expect(done.output.notices.contains("read notes.txt"), "\(done.notices)")
            let failed = done.output.notices.first { $0.hasPrefix("read gone.txt failed: ") }
            #expect(failed?.contains("gone.txt") == true && failed?.contains("\n") == false, "\(done.notices)")
            #expect(done.output.activities.contains("running read notes.txt"))
        }
    }

    @Test("A line has the exit code of a command, and the time if it was long")
    func words() {
        let call = ToolCall(id: "1", name: "bash.run", input: ["command": "make test"])
        func line(_ result: ToolResult, isDenied: Bool = false) -> String {
            ToolLines.line(call, result, isDenied: isDenied)
        }
        #expect(line(ToolResult(call: "1", content: "x", exitCode: 0)) == "make test → exit 0")
        #expect(line(ToolResult(call: "1", content: "x", isError: true, exitCode: 2)) == "make test → exit 2")
        #expect(line(ToolResult(call: "1", content: "\nno shell\nhere", isError: true)) == "make test failed: no shell")
        #expect(line(ToolResult(call: "1", content: "", isError: true)) == "make test failed")
        #expect(line(ToolResult(call: "1", content: "", duration: .milliseconds(2345))) == "make test, 2.3s")
        #expect(line(ToolResult(call: "1", content: "", duration: .milliseconds(999))) == "make test")
        #expect(
            line(ToolResult(call: "1", content: "not done: a rule", isError: true), isDenied: true)
                == "make test was not allowed: a rule")
        let hostile = ToolResult(call: "1", content: "\u{1B}[2J" + String(repeating: "x", count: 999), isError: true)
        #expect(!line(hostile).contains("\u{1B}") && line(hostile).count < 260)
    }

    /// The stream of a gateway that used a tool itself, with or without its result.
    private static func gateway(tellsResult: Bool) -> String {
        Answers.first + Answers.piece("Looking.")
            + #"data: {"object":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}"# + "\n\n"
            + (tellsResult
                ? #"data: {"object":"tool_result","tool_id":"t1","duration_ms":12,"exit_code":0,"content":"a b"}"#
                    + "\n\n"
                : "") + Answers.piece("Two files.") + Answers.end
    }

    @Test("Server-side tools have one line each as they happen, separated from the text")
    func server() async throws {
        for (tellsResult, line) in [(true, "ls → exit 0"), (false, "ls (by the server)")] {
            try await Desk.run(answers: Self.gateway(tellsResult: tellsResult)) { desk in
                desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
                let done = try await desk.say("What is here?", ["model": "gateway"])
                #expect(done.output.shown == "Looking.[\(line)]\n\nTwo files.")
                #expect(done["result"] == "Looking.\n\nTwo files.")
            }
        }
    }
}
