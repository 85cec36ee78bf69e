import Capabilities
import ChatHistory
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@Suite("Continuing a conversation", .timeLimit(.minutes(5)))
struct ContinueTests {
    @Test("The newest or the named conversation continues")
    func goesOn() async throws {
        try await Desk.run(
            answers: Answers.say("A1"), Answers.say("B1"), Answers.say("B2"), Answers.say("A2"), Answers.say("A3")
        ) { desk in
            let first = try #require(try await desk.say("a1")["session_id"]?.string)
            let second = try #require(try await desk.say("b1")["session_id"]?.string)
            #expect(first != second)
            #expect(try await desk.say("b2", ["continue": true])["session_id"]?.string == second)
            #expect(desk.asked[2].said.dropFirst() == ["user: b1", "assistant: B1", "user: b2"])
            let prefix = String(first.prefix(first.count - 2))
            for id in [first, prefix] where !second.hasPrefix(id) {
                #expect(try await desk.say("a", ["conversation": .string(id)])["session_id"]?.string == first)
            }
            let stored = try await desk.stored(first)
            #expect(stored.prefix(4) == ["user: a1", "assistant: A1", "user: a", "assistant: A2"])
            #expect(try await desk.stored(second).count == 4)
        }
    }

    @Test("A missing conversation is an error, and no model is asked")
    func missing() async throws {
        try await Desk.run(answers: Answers.say("x")) { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi", "conversation": "zzzz"])
            #expect(done.failure?.code == "history.not-found" && done.exit == .usage)
            #expect(desk.asked.isEmpty)
        }
    }

    @Test("A new conversation starts if there is none to continue")
    func none() async throws {
        try await Desk.run(answers: Answers.say("Hello")) { desk in
            let done = try await desk.say("Hi", ["continue": true])
            #expect(done["result"] == "Hello")
            #expect(done.notices.contains("no conversation to continue"))
        }
    }

    @Test("A conversation keeps its initial options, whatever the settings say later")
    func frozen() async throws {
        try await Desk.run(answers: Answers.say("1"), Answers.say("2"), Answers.say("3")) { desk in
            desk.settings = "{chat: {system: 'Old.', temperature: 0.25, model: 'openai/old-model', 'max-tokens': 77}}"
            try await desk.say("one")
            desk.settings = "{chat: {system: 'New.', temperature: 1.5, model: 'openai/new-model', 'max-tokens': 88}}"
            try await desk.say("two", ["continue": true])
            try await desk.say("three")
            let (old, new) = (desk.asked[1], desk.asked[2])
            #expect(old.said.first == "system: Old." && new.said.first == "system: New.")
            #expect(old.json["model"] == "old-model" && new.json["model"] == "new-model")
            #expect(old.json["temperature"] == 0.25 && new.json["temperature"] == 1.5)
            for (request, limit) in [(old, JSON.int(77)), (new, 88)] {
                #expect((request.json["max_completion_tokens"] ?? request.json["max_tokens"]) == limit)
            }
        }
    }

    @Test("A conversation that was changed in the meantime reports a new branch")
    func branch() async throws {
        let gate = Gate()
        try await Desk.run { connection in
            let question = try connection.receiveRequest().last
            try connection.begin()
            if question == "user: slow" { try gate.hold(connection) }
            try connection.send(Answers.say("to \(question)"))
        } _: { [gate] desk in
            let id = try #require(try await desk.say("one")["session_id"])
            let heard = RecordingOutput()
            async let slow = desk.attempt("chat.send", ["message": "slow", "conversation": id], to: heard)
            await heard.wait { $0.contains { $0.type == "init" } }
            let history = History(
                "\(desk.folder)/data/chat.db", now: { Timestamp(microseconds: 1_800_000_000_000_000) })
            let head = try await history.find(id.string ?? "").head
            try await history.append(
                Message(.user, "quick"), to: ConversationID(rawValue: id.string ?? ""), after: head)
            await history.close()
            gate.open()
            let done = try await slow
            #expect(done.exit == .done)
            #expect(heard.notices.count { $0.contains("starts a branch") } == 1, "\(heard.notices)")
        }
    }

    @Test("A conversation can switch to another model")
    func otherModel() async throws {
        try await Desk.run(answers: Answers.say("1"), Answers.say("2"), Answers.say("3")) { desk in
            try await desk.say("one", ["model": "openai/first"])
            try await desk.say("two", ["continue": true, "model": "openai/second"])
            try await desk.say("three", ["continue": true])
            #expect(desk.asked.map { $0.json["model"] } == ["first", "second", "second"])
        }
    }

    @Test("A conversation can be asked something that is not saved")
    func aside() async throws {
        try await Desk.run(answers: Answers.say("1"), Answers.say("2"), Answers.say("3")) { desk in
            try await desk.say("one", ["model": "openai/first"])
            try await desk.say("aside", ["continue": true, "no-save": true, "model": "openai/second"])
            #expect(desk.asked[1].said.dropFirst() == ["user: one", "assistant: 1", "user: aside"])
            #expect(desk.asked[1].json["model"] == "second")
            try await desk.say("two", ["continue": true])
            #expect(desk.asked[2].said.dropFirst() == ["user: one", "assistant: 1", "user: two"])
            #expect(desk.asked[2].json["model"] == "first")
        }
    }

    @Test("The options of the command apply")
    func options() async throws {
        try await Desk.run(answers: Answers.say("1")) { desk in
            try await desk.say(
                "one", ["temperature": 0.5, "max-tokens": 12, "seed": 42, "model": "openai/house-model"])
            let asked = desk.asked[0].json
            #expect(asked["temperature"] == 0.5 && asked["seed"] == 42)
            #expect((asked["max_completion_tokens"] ?? asked["max_tokens"]) == 12)
        }
    }

    @Test("Two conversations at once do not affect each other")
    func twoAtOnce() async throws {
        let gate = Gate()
        try await Desk.run { connection in
            let question = try connection.receiveRequest().last
            try connection.begin()
            try connection.send(Answers.first + Answers.piece("to "))
            if question == "user: slow" { try gate.hold(connection) }
            try connection.send(Answers.piece(question) + Answers.end)
        } _: { [gate] desk in
            let heard = RecordingOutput()
            async let slow = desk.attempt("chat.send", ["message": "slow"], to: heard)
            await heard.wait(for: "to ")
            let quick = try await desk.say("quick")
            #expect(quick["result"] == "to user: quick")
            #expect(heard.text == "to ")
            gate.open()
            let done = try await slow
            #expect(done["result"] == "to user: slow")
            for (done, word) in [(quick, "quick"), (done, "slow")] {
                let id = try #require(done["session_id"]?.string)
                #expect(try await desk.stored(id) == ["user: \(word)", "assistant: to user: \(word)"])
            }
        }
    }
}
