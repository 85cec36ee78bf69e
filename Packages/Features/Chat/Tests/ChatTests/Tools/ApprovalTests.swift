import Capabilities
import CoreTesting
import FileKit
import HostTesting
import JSON
import Testing

@Suite("Approval of tools", .timeLimit(.minutes(5)))
struct ApprovalTests {
    // sandbox case 83
    @Test("A tool is not used if nobody can approve it, and the exit code says so")
    func nobody() async throws {
        try await Desk.run(answers: Answers.call("saw"), Answers.say("I may not.")) { desk in
            let done = try await desk.say("Saw", ["tools": true])
            #expect(done["result"] == "I may not.")
            #expect(done.exit == .unanswered)
            #expect(done.notices.contains("saw was not allowed"))
            #expect(!desk.asked[1].last.contains("sawed"))
            let calls = try await desk.run("chat.inspect", ["conversation": try #require(done["session_id"])])
            #expect(calls.json.array?.first?["state"] == "denied")
        }
    }

    @Test("A prepared answer that does not match approves nothing and is a usage error")
    func unfit() async throws {
        let rounds = [Answers.call("saw"), Answers.say("I may not.")]
        try await Desk.run(answers: rounds[0], rounds[1], rounds[0], rounds[1], Answers.say("Fine.")) { desk in
            desk.person = HeadlessInteraction(answers: ["chat.approve": "Yes, perhaps"])
            let done = try await desk.say("Saw", ["tools": true])
            #expect(done.exit == .usage && done.notices.contains("must be one of"), "\(done.notices)")
            #expect(!desk.asked[1].last.contains("sawed"))
            // Also in a conversation, whatever follows.
            desk.person = HeadlessInteraction(answers: ["chat.approve": 3, "chat.message": ["Saw", "Thanks"]])
            let talk = try await desk.run("chat.send", ["tools": true])
            #expect(talk["result"] == "Fine." && talk.exit == .usage)
        }
    }

    @Test("A tool is used if a rule allows it, and not if one denies it")
    func rules() async throws {
        let rounds = [Answers.call("saw", input: ["wood": "oak"]), Answers.say("Done.")]
        try await Desk.run(answers: rounds[0], rounds[1], rounds[0], rounds[1]) { desk in
            desk.settings = "{chat: {approvals: [{verdict: 'allow', tool: 'saw', arguments: {'/wood': 'oak'}}]}}"
            let exit = try await desk.say("Saw", ["tools": true]).exit
            #expect(exit == .done)
            #expect(desk.asked[1].last == "tool: sawed oak")
            desk.settings = "{chat: {approvals: [{verdict: 'deny', tool: 'saw'}]}}"
            let exit2 = try await desk.say("Saw", ["tools": true]).exit
            #expect(exit2 == .done)
            #expect(desk.asked[3].last.contains("sawed") == false)
        }
    }

    @Test("The user is asked, and the answer applies", arguments: [true, false])
    func person(isAllowed: Bool) async throws {
        try await Desk.run(answers: Answers.call("saw", input: ["wood": "ash"]), Answers.say("So.")) { desk in
            let person = ScriptedPerson([
                "chat.approve": [isAllowed ? "Yes, this once" : "No, and say why"], "chat.approve.reason": ["use glue"],
            ])
            desk.person = person
            let done = try await desk.say("Saw", ["tools": true])
            #expect(done.exit == .done)
            #expect(person.asked == (isAllowed ? ["chat.approve"] : ["chat.approve", "chat.approve.reason"]))
            #expect(done.notices.contains("ash"))
            #expect(desk.asked[1].last.contains(isAllowed ? "sawed ash" : "use glue"))
        }
    }

    @Test("A tool that is always allowed is not asked about again")
    func always() async throws {
        let rounds = [Answers.call("saw"), Answers.say("Done.")]
        try await Desk.run(answers: rounds[0], rounds[1], rounds[0], rounds[1]) { desk in
            desk.person = ScriptedPerson(["chat.approve": ["Yes, always"]])
            try await desk.say("Saw", ["tools": true])
            desk.person = HeadlessInteraction()
            let exit3 = try await desk.say("Saw", ["tools": true]).exit
            #expect(exit3 == .done)
            #expect(desk.asked[3].last == "tool: sawed something")
            let settings = try Files.read("\(desk.folder)/config/config.json", limit: 1 << 20)
            #expect(String(decoding: settings, as: UTF8.self).contains("approvals"))
        }
    }

    @Test(
        "A tool allowed for a conversation is not asked about again in it",
        arguments: ["Yes, in this conversation", "Yes, always"])
    func conversation(answer: JSON) async throws {
        let rounds = [Answers.call("saw"), Answers.say("Done.")]
        try await Desk.run(answers: rounds[0], rounds[1], rounds[0], rounds[1]) { desk in
            let person = ScriptedPerson(["chat.approve": [answer], "chat.message": ["one", "two"]])
            desk.person = person
            try await desk.run("chat.send", ["tools": true])
            #expect(person.asked.count { $0 == "chat.approve" } == 1)
            #expect(desk.asked[3].last == "tool: sawed something")
        }
    }
}
