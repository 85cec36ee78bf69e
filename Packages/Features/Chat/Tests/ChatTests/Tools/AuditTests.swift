import Capabilities
import CoreTesting
import HostTesting
import JSON
import Testing

@Suite("Calls in the audit log", .timeLimit(.minutes(5)))
struct AuditTests {
    private static let settings = "{chat: {approvals: [{verdict: 'allow', tool: 'saw'}]}}"
    private static let call = Answers.call("saw", input: ["wood": "oak"])

    struct Full: Failure {
        let code = "storage.full"
        let message = "no space left for audit.db"
    }

    @Test(
        "A call is recorded with its conversation, and not with its input if that is not saved",
        arguments: [true, false])
    func recorded(isSaved: Bool) async throws {
        try await Desk.run(answers: Self.call, Answers.say("Done."), with: [AuditLogFeature.self]) { desk in
            desk.settings = Self.settings
            let done = try await desk.say("Saw", ["tools": true, "no-save": .bool(!isSaved)])
            let entry = try #require(desk.log.recorded.first)
            #expect(desk.log.recorded.count == 1)
            #expect(entry.source == "bench" && entry.subject == "saw" && entry.outcome == "done")
            #expect(entry.actor == "model" && entry.decision == "allowed by a rule of the always")
            #expect((entry.detail["input"] == ["wood": "oak"]) == isSaved)
            #expect(entry.conversation == (isSaved ? done["session_id"]?.string : nil))
        }
    }

    @Test("A call that writes does not run without its record, and the model is told why", arguments: [true, false])
    func full(isFull: Bool) async throws {
        try await Desk.run(answers: Self.call, Answers.say("Done."), with: [AuditLogFeature.self]) { desk in
            desk.settings = Self.settings
            if isFull { desk.log.fail(with: Full()) }
            let done = try await desk.say("Saw", ["tools": true])
            #expect(desk.asked[1].last.contains("sawed oak") != isFull)
            #expect(desk.asked[1].last.contains("no space left for audit.db") == isFull)
            #expect(done.notices.contains("calls that change or send something are denied") == isFull)
        }
    }

    @Test("What a conversation wrote goes from the log with the conversation", arguments: [true, false])
    func erased(atOnce: Bool) async throws {
        try await Desk.run(answers: Self.call, Answers.say("Done."), with: [AuditLogFeature.self]) { desk in
            desk.settings = Self.settings
            let id = try #require(try await desk.say("Saw", ["tools": true])["session_id"])
            try await desk.run("chat.delete", ["conversation": id, "now": .bool(atOnce)])
            #expect(desk.log.erased.isEmpty != atOnce)
            if !atOnce { try await desk.run("data.purge", ["stores": ["chat.history"]]) }
            #expect(desk.log.erased == [.conversation(id.string ?? "")])
            #expect(desk.log.recorded.first?.detail["input"] == nil)
        }
    }
}
