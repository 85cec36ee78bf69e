import Capabilities
import ChatHistory
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@testable import Chat

@Suite("Conversations with a chosen id", .timeLimit(.minutes(5)))
struct SessionIDTests {
    private static let id: JSON = "20261121-213045-k7f3qd8z"

    @Test("The first message begins the conversation with this id, and the next one continues it")
    func begun() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            let first = try await desk.say("One", ["session-id": Self.id])
            #expect(first["session_id"] == Self.id)
            let second = try await desk.say("Two", ["session-id": Self.id])
            #expect(second["session_id"] == Self.id)
            #expect(try await desk.stored() == ["user: One", "assistant: A", "user: Two", "assistant: B"])
            #expect(try await desk.run("chat.list").json.array?.count == 1)
        }
    }

    @Test(
        "A part of an id, and anything else, is refused", arguments: ["k7f3qd8z", "", "20261121-213045-K7F3QD8Z", "x"])
    func malformed(id: String) async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            let refused = try await desk.attempt("chat.send", ["message": "Hi", "session-id": .string(id)])
            let failure = try #require(refused.failure)
            #expect(failure.exit == .usage && failure.message.contains("must be a whole id"), "\(failure)")
            #expect(desk.asked.isEmpty)
        }
    }

    @Test("With the name of another conversation it is refused", arguments: ["conversation", "continue"])
    func contradiction(option: String) async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            let value: JSON = option == "continue" ? true : "abc"
            let refused = try await desk.attempt("chat.send", ["message": "Hi", "session-id": Self.id, option: value])
            #expect(refused.failure?.exit == .usage && refused.failure?.message.contains("--session-id") == true)
            #expect(desk.asked.isEmpty)
        }
    }

    @Test("A deleted conversation is not continued, and the letters of another one are not taken")
    func taken() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            try await desk.say("One", ["session-id": Self.id])
            let other = try await desk.attempt(
                "chat.send", ["message": "Hi", "session-id": "20261122-213045-k7f3qd8z"])
            #expect(other.notices.contains("This conversation is not stored: another conversation has the letters"))
            try await desk.run("chat.delete", ["conversation": Self.id])
            let deleted = try await desk.attempt("chat.send", ["message": "Hi", "session-id": Self.id])
            #expect(deleted.failure?.message.contains("'martlet chat restore k7f3qd8z' restores it") == true)
            #expect(desk.asked.count == 2)
        }
    }
}
