import Capabilities
import FileKit
import HTTPTesting
import HostKit
import HostTesting
import JSON
import Testing

@testable import Chat
@testable import CoreTesting
@testable import Registry

@Suite("Console", .timeLimit(.minutes(5)))
struct ConsoleTests {
    @Test("Lines are sent one after the other in one conversation")
    func talk() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            desk.person = ScriptedPerson(types: "one", "", "two", "/quit")
            let done = try await desk.run("chat.send")
            #expect(done.notices.hasPrefix("OpenAI, "))
            #expect(done["result"] == "B")
            #expect(desk.asked[1].said.dropFirst() == ["user: one", "assistant: A", "user: two"])
            #expect(try await desk.run("chat.list").json.array?.count == 1)
        }
    }

    @Test("Changed settings apply to new conversations, and the current one stays", arguments: [true, false])
    func changedSettings(isSaved: Bool) async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B"), Answers.say("C")) { desk in
            let test = try TestHost(
                [HostFeature.self, Workshop.self, ChatFeature.self].map { BuiltInFeature($0) },
                settings: "{chat: {model: 'openai/first', system: 'Be brief'}}", environment: desk.environment,
                folder: desk.folder, clock: TestClock(), time: ContinuousClock())
            let person = ScriptedPerson(types: "one", "two", "/new", "three")
            person.beforeLine(2) {
                try test.change(settings: "{chat: {model: 'openai/second', system: 'Be kind'}}")
            }
            try await ChatServices.$localServers.withValue([]) {
                let done = try await test.session.perform(
                    "chat.send", ["no-save": .bool(!isSaved)], as: .person(person), output: test.output)
                #expect(done.json["result"] == "C")
            }
            let said = desk.asked.map { ($0.json["model"]?.string ?? "", $0.said.first ?? "", $0.said.count) }
            #expect(said.map(\.0) == ["first", "first", "second"])
            #expect(said.map(\.1) == ["system: Be brief", "system: Be brief", "system: Be kind"])
            #expect(said.map(\.2) == [2, 4, 2])
            let stuck = await test.session.close()
            #expect(stuck == [])
        }
    }

    @Test("An input that ends at once sends nothing")
    func nothing() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            desk.person = ScriptedPerson()
            let done = try await desk.run("chat.send")
            #expect(done.exit == .done && done["result"] == nil)
            #expect(desk.asked.isEmpty)
        }
    }

    @Test("All commands are listed, and a wrong one gets a suggestion")
    func help() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            desk.person = ScriptedPerson(types: "/help", "/modle", "/system", "/attach", "/save", "/quit")
            let done = try await desk.run("chat.send")
            for name in ConsoleCommand.names where name != "/help" && name != "/stop" {
                #expect(done.notices.contains(name), "\(name)")
            }
            #expect(done.notices.contains("unknown command /modle") && done.notices.contains("did you mean"))
            #expect(done.notices.contains("/system needs a system prompt"))
            #expect(done.notices.contains("/attach needs a file"))
            #expect(done.notices.contains("nothing is saved yet"))
            #expect(desk.asked.isEmpty)
        }
    }

    @Test("Another conversation starts, and the first is resumed")
    func newAndResume() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B"), Answers.say("C")) { desk in
            let first = try await desk.say("alpha")["session_id"]?.string ?? ""
            desk.person = ScriptedPerson(
                types: "beta", "/save", "/resume \(first)", "gamma", "/resume nowhere", "/quit")
            let done = try await desk.run("chat.send")
            #expect(desk.asked[1].said.dropFirst() == ["user: beta"])
            #expect(desk.asked[2].said.dropFirst() == ["user: alpha", "assistant: A", "user: gamma"])
            #expect(done.notices.contains("saved as ") && done.notices.contains("continuing alpha"))
            #expect(done.notices.contains("no conversation id begins with 'nowhere'"))
        }
    }

    @Test("/new starts without the earlier messages")
    func new() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            desk.person = ScriptedPerson(types: "one", "/new", "two")
            try await desk.run("chat.send")
            #expect(desk.asked[1].said.dropFirst() == ["user: two"])
            #expect(try await desk.run("chat.list").json.array?.count == 2)
        }
    }

    @Test("/model switches to another model, and keeps the old one if the new one is unknown")
    func model() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B"), Answers.say("C")) { desk in
            desk.person = ScriptedPerson(
                types: "one", "/model openai/second", "two", "/model nobody/has/this", "/model", "three")
            let done = try await desk.run("chat.send", ["model": "openai/first"])
            #expect(desk.asked.map { $0.json["model"] } == ["first", "second", "second"])
            #expect(desk.asked[2].said.count == 6)
            #expect(done.output.notices.contains("OpenAI, second is answering now"))
        }
    }

    @Test("/model says how to name a model if there is no list", arguments: ["none", "empty", "one"])
    func noList(kind: String) async throws {
        try await Desk.run { connection in
            guard try connection.receiveRequest().method == "POST" else {
                let models = kind == "one" ? #"[{"id":"first"}]"# : "[]"
                return kind == "none"
                    ? try connection.respond(Answers.error("no list today"), status: 404)
                    : try connection.respond(#"{"object":"list","data":\#(models)}"#)
            }
            try connection.begin()
            try connection.send(Answers.say("Yes"))
        } _: { desk in
            let person = ScriptedPerson(types: "/model", "one", "/quit")
            desk.person = person
            let done = try await desk.run("chat.send", ["model": "openai/first"])
            #expect(done.notices.contains("OpenAI, first is answering now"))
            #expect(done.notices.contains("/model NAME selects one by name"), "\(done.notices)")
            #expect(!person.asked.contains("chat.model") && done["result"] == "Yes")
        }
    }

    @Test("/model reports an unlisted model, with a suggestion, and an unknown one")
    func unlisted() async throws {
        try await Desk.run { connection in
            guard try connection.receiveRequest().method == "POST" else {
                return try connection.respond(#"{"object":"list","data":[{"id":"swallow-1"},{"id":"swift-2"}]}"#)
            }
            try connection.begin()
            try connection.send(Answers.say("Yes"))
        } _: { desk in
            desk.person = ScriptedPerson(
                types: "/model openai/swalow-1", "/model openai/swift-2", "/model nobody-has-it", "one")
            let done = try await desk.run("chat.send", ["model": "openai/swallow-1"])
            let told = done.output.notices.filter { $0.contains("does not list this model") }
            #expect(told.count == 1 && told[0].contains("did you mean 'swallow-1'?"), "\(done.notices)")
            #expect(done.notices.contains("no provider has a model “nobody-has-it”"))
            #expect(desk.asked.map { $0.json["model"] } == ["swift-2"])
        }
    }

    @Test("The session of a gateway is kept")
    func session() async throws {
        try await Desk.run { connection in
            guard try connection.receiveRequest().method == "POST" else {
                return try connection.respond(#"{"object":"list","data":[]}"#)
            }
            try connection.begin(headers: "X-Session-ID: s-42\r\nX-Project-ID: p-7\r\n")
            try connection.send(Answers.say("Yes"))
        } _: { desk in
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            desk.environment["GATEWAY_API_KEY"] = "key"
            desk.person = ScriptedPerson(types: "one", "two", "/new", "three")
            try await desk.run("chat.send", ["model": "gateway/agent"])
            #expect(desk.asked.map { $0.json["session_id"]?.string } == [nil, "s-42", nil])
            // The gateway has no memory, so it receives the earlier messages.
            #expect(desk.asked[1].last.contains("one") && desk.asked[1].last.hasSuffix("two"))
            #expect(!desk.asked[2].last.contains("one"))
        }
    }

    @Test("/tools turns tools on and off")
    func tools() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B"), Answers.say("C")) { desk in
            desk.person = ScriptedPerson(types: "one", "/tools", "two", "/tools", "three")
            let done = try await desk.run("chat.send")
            #expect(desk.asked.map { $0.tools.contains("saw") } == [false, true, false])
            #expect(done.notices.contains("read-only: the model may read"))
            #expect(done.notices.contains("no tools"))
        }
    }

    @Test("/mode shows and sets the mode")
    func modes() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            let folder = "\(desk.folder)/work"
            try Files.makeDirectories(folder)
            desk.current = folder
            desk.person = ScriptedPerson(types: "/mode", "/mode workspace", "one", "/mode off", "two", "/mode fast")
            let done = try await desk.run("chat.send")
            #expect(desk.asked.map { $0.tools.contains("fs_write") } == [true, false])
            let told = ["no tools", "workspace: the model edits files", "no tools", "use off, read-only"]
            #expect(told.allSatisfy(done.notices.contains), "\(done.notices)")
        }
    }

    @Test("No mode is claimed for a server with its own rules")
    func serverModes() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            desk.environment = [
                "GATEWAY_BASE_URL": "http://127.0.0.1:\(desk.server.port)", "GATEWAY_API_KEY": Desk.key,
                "HOME": "/nonexistent",
            ]
            desk.person = ScriptedPerson(types: "/mode full", "/tools", "/quit")
            let done = try await desk.run("chat.send", ["mode": "workspace"])
            let told = done.output.notices.count { $0.contains("uses its own tools and rules") }
            #expect(told == 2, "\(done.notices)")
            #expect(!done.notices.contains("(mode "), "\(done.notices)")
        }
    }

    @Test("/system starts a conversation, and /attach sends a file once")
    func systemAndFile() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            let name = try desk.write(Array("secret plan".utf8), to: "plan.txt")
            desk.person = ScriptedPerson(types: "/system Rhyme.", "/attach \(name)", "/attach gone.txt", "one", "two")
            let done = try await desk.run("chat.send")
            #expect(desk.asked[0].said[0] == "system: Rhyme.")
            #expect(desk.asked[0].last.contains("secret plan"))
            #expect(desk.asked[1].last == "user: two")
            #expect(done.notices.contains("plan.txt will be sent with your next message"))
            #expect(done.notices.contains("gone.txt"))
        }
    }

    @Test(
        "A failed answer does not end the conversation, and /retry replaces the last message", arguments: [false, true])
    func retry(isUnsaved: Bool) async throws {
        let next = Counter()
        try await Desk.run { connection in
            next.next() == 0
                ? try connection.reply(Answers.error("not today"), status: 400)
                : try connection.stream(Answers.say("Yes"))
        } _: { desk in
            let name = try desk.write(Array("the plan".utf8), to: "plan.txt")
            desk.person = ScriptedPerson(types: "/retry", "/attach \(name)", "please", "/retry", "/retry", "/save")
            let done = try await desk.run("chat.send", ["no-save": .bool(isUnsaved)])
            #expect(done.notices.contains("no message to send again") && done.notices.contains("not today"))
            #expect(done["result"] == "Yes")
            #expect(desk.asked.count == 3)
            for request in desk.asked {
                #expect(request.said.dropFirst().count == 1, "\(request.said)")
                #expect(request.last.hasPrefix("user: please") && request.last.contains("the plan"))
            }
            if isUnsaved {
                #expect(try await desk.run("chat.list").json == [])
            } else {
                let stored = try await desk.stored()
                #expect(stored.count == 2 && stored[1] == "assistant: Yes", "\(stored)")
            }
        }
    }
}
