import Capabilities
import HTTPTesting
import JSON
import Testing

@testable import Chat

@Suite("On a terminal a conversation", .timeLimit(.minutes(5)))
struct ConsoleTellingTests {
    @Test("that is gone on with says what it is about and what was said last, and its inputs can be had back")
    func goesOn() async throws {
        try await Desk.run(answers: Answers.say("Swallows."), Answers.say("In spring.")) { desk in
            try await desk.say("Which birds are these?")
            try await desk.say("When do they come?", ["continue": true])
            let person = Person(types: "/quit")
            desk.person = person
            let done = try await desk.run("chat.send", ["continue": true])
            #expect(done.notices.contains("goes on with Which birds are these?, 4 messages"))
            #expect(done.notices.contains("› When do they come?") && done.notices.contains("In spring."))
            #expect(!done.notices.contains("Swallows."))
            #expect(person.histories == [["Which birds are these?", "When do they come?"]])
        }
    }

    @Test("ends with how it is gone on with")
    func ends() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            desk.person = Person(types: "one", "/quit")
            let done = try await desk.run("chat.send")
            let id = try #require(done["session_id"]?.string)
            let tag = try #require(id.split(separator: "-").last)
            #expect(done.heard.notices.last == "go on with it: martlet chat --conversation \(tag)")
            desk.person = Person(types: "/quit")
            #expect(try await desk.run("chat.send").notices.contains("go on with it") == false)
        }
    }

    @Test("takes what begins with a path as a message, and says how to send what looks like a command")
    func paths() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            desk.person = Person(types: "/etc/hosts looks odd", "/etc is", " /etc is", "/quit")
            let done = try await desk.run("chat.send")
            #expect(desk.asked.map(\.last) == ["user: /etc/hosts looks odd", "user:  /etc is"])
            #expect(done.notices.contains("there is no command /etc") && done.notices.contains("begins with a space"))
        }
    }

    @Test("begins anew after /clear")
    func clear() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            desk.person = Person(types: "one", "/clear", "two")
            let done = try await desk.run("chat.send")
            #expect(desk.asked[1].said.dropFirst() == ["user: two"])
            #expect(done.types.contains("clear"))
        }
    }

    @Test("says who answers, also at a gateway that chooses the model")
    func gateway() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            desk.person = Person(types: "/quit")
            let done = try await desk.run("chat.send", ["model": "gateway"])
            #expect(done.notices.hasPrefix("gateway. /help"), "\(done.notices)")
        }
    }

    @Test("begins although the server is down, and asks it when something is said")
    func down() async throws {
        try await RefusingPort.run { port in
            try await Desk.run(answers: Answers.say("A")) { desk in
                desk.environment = ["KAMIWAZA_BASE_URL": "http://127.0.0.1:\(port)/api", "KAMIWAZA_API_KEY": Desk.key]
                let person = Person(types: "one", "/quit")
                desk.person = person
                let done = try await desk.run("chat.send")
                #expect(person.asked == ["chat.message", "chat.message"])
                #expect(done.notices.contains("nobody answers yet"))
            }
        }
    }

    @Test("offers the model that answers now among the others, and files behind /attach")
    func choices() async throws {
        let list = #"{"object":"list","data":[{"id":"first","object":"model"},{"id":"second","object":"model"}]}"#
        try await Desk.run({ try $0.reply(list) }) { desk in
            _ = try desk.write(Array("x".utf8), to: "notes.txt")
            _ = try desk.write(Array("x".utf8), to: ".hidden")
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            let person = Person(["chat.message": ["/model", "/quit"], "chat.model": ["first, as now"]])
            desk.person = person
            let done = try await desk.run("chat.send", ["model": "gateway/first"])
            #expect(person.options == ["second", "first, as now"])
            #expect(done.notices.contains("gateway, first answers now") && !done.notices.contains("from now on"))
            #expect(person.completions.contains("/attach notes.txt") && !person.completions.contains("/attach .hidden"))
            #expect(ConsoleCommand.names.allSatisfy { $0 == "/help" || ConsoleCommand.overview.contains($0) })
        }
    }

    @Test("marks an answer that was stopped")
    func stopped() async throws {
        try await Desk.run { connection in
            try connection.stream(Answers.first + Answers.piece("Hel"))
            try connection.stall()
        } _: { desk in
            let heard = Heard()
            let task = Task { [desk] in try await desk.attempt("chat.send", ["message": "Hi"], heard: heard) }
            await heard.wait(for: "Hel")
            task.cancel()
            _ = try await task.value
            #expect(heard.notices.contains("the answer was stopped"))
        }
    }

    @Test("shows what is to be agreed to as what it is, and not as JSON")
    func approval() async throws {
        let call = Answers.call("saw", input: ["path": "plank", "old_text": "long", "new_text": "short"])
        try await Desk.run(answers: call, Answers.say("Done.")) { desk in
            desk.person = Person(["chat.approve": ["Yes, this once"]])
            let done = try await desk.say("Saw", ["tools": true])
            #expect(done.notices.contains("saw:\nplank\n- long\n+ short"), "\(done.notices)")
        }
    }
}
