import Capabilities
import JSON
import Testing

@Suite("A call that is done again", .timeLimit(.minutes(5)))
struct RerunTests {
    @Test("gives a new result, also with another input, and changes nothing of the conversation")
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

    @Test("needs the same approval as before, and a number that there is")
    func refused() async throws {
        try await Desk.run(answers: Answers.call("saw", input: ["wood": "oak"]), Answers.say("Done.")) { desk in
            let id = try #require(try await desk.say("Saw", ["tools": true])["session_id"])
            let call = try #require(try await desk.run("chat.inspect", ["conversation": id]).json[0]?["call"])
            let denied = try await desk.run("chat.rerun", ["conversation": id, "call": call])
            #expect(denied["state"] == "failed" && denied["output"]?.string?.contains("sawed") == false)
            let missing = try await desk.attempt("chat.rerun", ["conversation": id, "call": 999])
            #expect(missing.failure?.code == "chat.call-unknown" && missing.exit == .usage)
        }
    }
}
