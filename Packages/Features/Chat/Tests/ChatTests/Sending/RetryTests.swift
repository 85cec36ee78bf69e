import Capabilities
import ChatHistory
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@testable import Chat

@Suite("Sending again, and with another model", .timeLimit(.minutes(5)))
struct RetryTests {
    @Test("The last message is sent again, and its old answer stays as a branch")
    func again() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B"), Answers.say("C")) { desk in
            try await desk.say("One")
            let id = try #require(try await desk.say("Two", ["continue": true])["session_id"]?.string)
            let done = try await desk.run("chat.retry", ["conversation": .string(id)])
            #expect(done["result"] == "C" && done["session_id"] == .string(id) && done.types.first == "init")
            #expect(desk.asked[2].said == desk.asked[1].said)
            #expect(try await desk.stored(id) == ["user: One", "assistant: A", "user: Two", "assistant: C"])
        }
    }

    @Test("Without a name it is the newest conversation, which another model may go on with")
    func model() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B"), Answers.say("C")) { desk in
            try await desk.say("One", ["model": "openai/small-1"])
            try await desk.run("chat.retry", ["model": "openai/other-2"])
            try await desk.say("Two", ["continue": true])
            #expect(desk.asked.map { $0.json["model"] } == ["small-1", "other-2", "other-2"])
        }
    }

    @Test("Without a message there is nothing to send again, and without a conversation neither")
    func nothing() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            #expect(try await desk.attempt("chat.retry").failure?.code == "history.not-found")
            _ = try desk.write(Array(#"[{"role":"assistant","content":"Hello"}]"#.utf8), to: "talk.json")
            try await desk.run("chat.import", ["file": "talk.json"])
            let failed = try await desk.attempt("chat.retry")
            #expect(failed.failure?.code == "chat.nothing-to-repeat" && failed.exit == .usage)
            #expect(desk.asked.isEmpty)
        }
    }

    @Test("A failed answer is a failure here too")
    func failed() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            try await desk.say("One")
            let failed = try await desk.attempt("chat.retry")
            #expect(failed.exit != .done && failed.types.last == "error")
        }
    }

    @Test("A conversation goes on with another model, and a name that is not listed is told")
    func use() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            let id = try #require(try await desk.say("One", ["model": "openai/small-1"])["session_id"]?.string)
            let done = try await desk.run("chat.use", ["conversation": .string(id), "model": "openai/other-2"])
            #expect(done["model"] == "other-2" && done["provider"] == "openai" && done["id"] == .string(id))
            try await desk.say("Two", ["conversation": .string(id)])
            #expect(desk.asked.map { $0.json["model"] } == ["small-1", "other-2"])
            #expect(desk.asked[1].said.contains("assistant: A"))
            try await desk.run("chat.delete", ["conversation": .string(id)])
            let deleted = try await desk.attempt("chat.use", ["conversation": .string(id), "model": "openai/small-1"])
            #expect(deleted.error != nil)
            try await desk.run("chat.restore", ["conversation": .string(id)])
            let unknown = try await desk.attempt("chat.use", ["conversation": .string(id), "model": "nowhere/x"])
            #expect(unknown.error != nil)
            #expect(try await desk.run("chat.list").json.array?.first?["model"] == "other-2")
        }
    }
}
