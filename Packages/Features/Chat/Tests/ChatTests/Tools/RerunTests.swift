import Capabilities
import CoreTesting
import HostTesting
import JSON
import Testing

@Suite("Repeating a tool call", .timeLimit(.minutes(5)))
struct RerunTests {
    @Test("A repeated call has a new result, also with another input, and does not change the conversation")
    func rerun() async throws {
        try await Desk.run(answers: Answers.call("saw", input: ["wood": "oak"]), Answers.say("Done.")) { desk in
            desk.settings = "{chat: {approvals: [{verdict: 'allow', tool: 'saw'}]}}"
            let id = try #require(try await desk.say("Saw", ["tools": true])["session_id"])
            let before = try await desk.run("chat.inspect", ["conversation": id]).json
            let call = try #require(before[0]?["call"])
            let same = try await desk.run("chat.rerun", ["conversation": id, "call": call])
            #expect(same["output"] == "sawed oak" && same["state"] == "done")
            let other = try await desk.run(
                "chat.rerun", ["conversation": id, "call": call, "input": ["wood": "ash"]])
            #expect(other["output"] == "sawed ash" && other["input"]?["wood"] == "ash")
            #expect(try await desk.run("chat.inspect", ["conversation": id]).json == before)
            #expect(desk.asked.count == 2)
        }
    }

    @Test("A call that a server ran with its own tools is refused")
    func ofServer() async throws {
        let answer =
            Answers.first + #"data: {"object":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}"# + "\n\n"
            + Answers.piece("So.") + Answers.end
        try await Desk.run(answers: answer) { desk in
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            let id = try #require(try await desk.say("Look", ["model": "gateway"])["session_id"])
            let call = try #require(try await desk.run("chat.inspect", ["conversation": id]).json[0]?["call"])
            let done = try await desk.attempt("chat.rerun", ["conversation": id, "call": call])
            #expect(done.exit == .usage && done.failure?.code == "chat.call-of-server")
            #expect(done.failure?.message.contains("ran on the server") == true)
        }
    }

    @Test("A repeated call needs the same approval and an existing number")
    func refused() async throws {
        try await Desk.run(answers: Answers.call("saw", input: ["wood": "oak"]), Answers.say("Done.")) { desk in
            let id = try #require(try await desk.say("Saw", ["tools": true])["session_id"])
            let call = try #require(try await desk.run("chat.inspect", ["conversation": id]).json[0]?["call"])
            let denied = try await desk.run("chat.rerun", ["conversation": id, "call": call])
            #expect(denied["state"] == "failed" && denied["output"]?.string?.contains("sawed") == false)
            #expect(denied.exit == .toolFailed)
            let missing = try await desk.attempt("chat.rerun", ["conversation": id, "call": 999])
            #expect(missing.failure?.code == "chat.call-unknown" && missing.exit == .usage)
        }
    }
}
