import Capabilities
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Testing

@testable import Chat

@Suite("Console messages", .timeLimit(.minutes(5)))
struct ConsoleTellingTests {
    @Test("A resumed conversation shows its title and last texts, and its inputs are in the line history")
    func goesOn() async throws {
        try await Desk.run(answers: Answers.say("Swallows."), Answers.say("In spring.")) { desk in
            try await desk.say("Which birds are these?")
            try await desk.say("When do they come?", ["continue": true])
            let person = ScriptedPerson(types: "/quit")
            desk.person = person
            let done = try await desk.run("chat.send", ["continue": true])
            #expect(done.notices.contains("continuing Which birds are these?, 4 messages"))
            #expect(done.notices.contains("› When do they come?") && done.notices.contains("In spring."))
            #expect(!done.notices.contains("Swallows."))
            #expect(person.histories == [["Which birds are these?", "When do they come?"]])
        }
    }

    @Test("The end shows how to continue the conversation")
    func ends() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            desk.person = ScriptedPerson(types: "one", "/quit")
            let done = try await desk.run("chat.send")
            let id = try #require(done["session_id"]?.string)
            let tag = try #require(id.split(separator: "-").last)
            #expect(done.output.notices.last == "to continue: martlet chat --conversation \(tag)")
            desk.person = ScriptedPerson(types: "/quit")
            #expect(try await desk.run("chat.send").notices.contains("to continue: ") == false)
        }
    }

    @Test("A line that begins with a path is a message, and an unknown command says how to send it")
    func paths() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            desk.person = ScriptedPerson(types: "/etc/hosts looks odd", "/etc is", " /etc is", "/quit")
            let done = try await desk.run("chat.send")
            #expect(desk.asked.map(\.last) == ["user: /etc/hosts looks odd", "user:  /etc is"])
            #expect(done.notices.contains("unknown command /etc") && done.notices.contains("begin with a space"))
        }
    }

    @Test("/clear starts a new conversation")
    func clear() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            desk.person = ScriptedPerson(types: "one", "/clear", "two")
            let done = try await desk.run("chat.send")
            #expect(desk.asked[1].said.dropFirst() == ["user: two"])
            #expect(done.types.contains("clear"))
        }
    }

    @Test("The start shows which model answers, also at a gateway that chooses the model")
    func gateway() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            desk.person = ScriptedPerson(types: "/quit")
            let done = try await desk.run("chat.send", ["model": "gateway"])
            #expect(done.notices.hasPrefix("gateway. /help"), "\(done.notices)")
        }
    }

    @Test("The console starts while the server is down, and asks it when a message is sent")
    func down() async throws {
        try await RefusingPort.run { port in
            try await Desk.run(answers: Answers.say("A")) { desk in
                desk.environment = ["KAMIWAZA_BASE_URL": "http://127.0.0.1:\(port)/api", "KAMIWAZA_API_KEY": Desk.key]
                let person = ScriptedPerson(types: "one", "/quit")
                desk.person = person
                let done = try await desk.run("chat.send")
                #expect(person.asked == ["chat.message", "chat.message"])
                #expect(done.notices.contains("no model is available yet"))
            }
        }
    }

    @Test("/model offers the current model among the others, and /attach completes files")
    func choices() async throws {
        let list = #"{"object":"list","data":[{"id":"first","object":"model"},{"id":"second","object":"model"}]}"#
        try await Desk.run({ try $0.reply(list) }) { desk in
            _ = try desk.write(Array("x".utf8), to: "notes.txt")
            _ = try desk.write(Array("x".utf8), to: ".hidden")
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            let person = ScriptedPerson(["chat.message": ["/model", "/quit"], "chat.model": ["first, as now"]])
            desk.person = person
            let done = try await desk.run("chat.send", ["model": "gateway/first"])
            #expect(person.options.last == ["second", "first, as now"])
            #expect(done.notices.contains("gateway, first is answering now") && !done.notices.contains("from now on"))
            #expect(person.completions.contains("/attach notes.txt") && !person.completions.contains("/attach .hidden"))
            #expect(ConsoleCommand.names.allSatisfy { $0 == "/help" || ConsoleCommand.overview.contains($0) })
        }
    }

    @Test("A stopped answer is marked")
    func stopped() async throws {
        try await Desk.run { connection in
            try connection.stream(Answers.first + Answers.piece("Hel"))
            try connection.stall()
        } _: { desk in
            let heard = RecordingOutput()
            let task = Task { [desk] in try await desk.attempt("chat.send", ["message": "Hi"], to: heard) }
            await heard.wait(for: "Hel")
            task.cancel()
            _ = try await task.value
            #expect(heard.notices.contains("the answer was stopped"))
        }
    }

    @Test("An approval question shows the change itself, and not JSON")
    func approval() async throws {
        let call = Answers.call("saw", input: ["path": "plank", "old_text": "long", "new_text": "short"])
        try await Desk.run(answers: call, Answers.say("Done.")) { desk in
            desk.person = ScriptedPerson(["chat.approve": ["Yes, this once"]])
            let done = try await desk.say("Saw", ["tools": true])
            #expect(done.notices.contains("saw:\nplank\n- long\n+ short"), "\(done.notices)")
        }
    }
}
