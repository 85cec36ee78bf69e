import Capabilities
import GatewayStore
import JSON
import StorageKit
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Agent turns")
struct TurnTests {
    @Test("A turn uses the tools of the project's folder, reports every event, and is stored")
    func usesTools() async throws {
        let model = ScriptedModel("scripted", .call([.named("fs_read", ["path": "notes.txt"])]), .say("two TODOs"))
        try await Workshop.run(model) { workshop in
            let heard = Heard()
            let report = try await workshop.say("Where are the TODOs?", to: heard)
            #expect(report.outcome.end.word == "answered")
            #expect(report.text == "two TODOs")
            #expect(report.failure == nil)
            #expect(
                heard.words == [
                    "began", "usage 8", "usage 8", "done call fs.read", "result ok", "text", "text", "usage 13",
                    "usage 13",
                ])
            let session = try #require(report.place.session)
            #expect(heard.place == report.place)
            #expect(report.place.name == "scripted/one")
            #expect(report.place.project == workshop.project.id)
            let history = try await workshop.history(session)
            #expect(history.count == 4)
            #expect(history[0] == "user: Where are the TODOs?")
            #expect(history[1] == "assistant: [fs_read]")
            #expect(history[2].hasPrefix("tool: ") && history[2].contains("TODO: three"))
            #expect(history[3] == "assistant: two TODOs")
            let stored = try #require(try await workshop.store.session(session))
            #expect(stored.title == "Where are the TODOs?")
            #expect(stored.model == "scripted/one")
            #expect(stored.usage.usage.outputTokens == 13)
        }
    }

    @Test("The stored history counts, and only messages after the last answer of a request are new")
    func goesOn() async throws {
        let model = ScriptedModel("scripted", .say("Hello Ada"), .say("You are Ada"))
        try await Workshop.run(model) { workshop in
            let session = try #require(try await workshop.say("I am Ada").place.session)
            var input = workshop.input("", session: session)
            input.chat.messages = [
                Message(.user, "I am Bert"), Message(.assistant, "Hello Bert"), Message(.user, "Who am I?"),
            ]
            _ = try await workshop.turns.run(input) { _ in }
            #expect(
                try await workshop.history(session) == [
                    "user: I am Ada", "assistant: Hello Ada", "user: Who am I?", "assistant: You are Ada",
                ])
            #expect(model.requests[1].messages.map(\.text) == ["I am Ada", "Hello Ada", "Who am I?"])
        }
    }

    @Test("A new session takes over the history of the request")
    func takesOver() async throws {
        let model = ScriptedModel()
        try await Workshop.run(model) { workshop in
            var input = workshop.input("")
            input.chat.messages = [
                Message(.system, "Be brief"), Message(.user, "I am Bert"), Message(.assistant, "Hello Bert"),
                Message(.user, "Who am I?"),
            ]
            let report = try await workshop.turns.run(input) { _ in }
            let session = try #require(report.place.session)
            #expect(try await workshop.history(session).count == 4)
            #expect(model.requests[0].messages.map(\.text) == ["Be brief", "I am Bert", "Hello Bert", "Who am I?"])
            #expect(try await workshop.store.session(session)?.systemPrompt == "Be brief")
        }
    }

    @Test("The system prompt is the request's, or else the session's")
    func systemPrompt() async throws {
        let model = ScriptedModel()
        try await Workshop.run(model) { workshop in
            let session = try await workshop.store.createSession(
                NewSession(project: workshop.project.id, systemPrompt: "Be kind"))
            _ = try await workshop.say("Hello", session: session.id)
            var input = workshop.input("Again", session: session.id)
            input.systemPrompt = "Be curt"
            _ = try await workshop.turns.run(input) { _ in }
            #expect(model.requests.map { $0.messages.first?.text } == ["Be kind", "Be curt"])
        }
    }

    @Test("Options reach the model, and members for the gateway do not")
    func passesOptions() async throws {
        let model = ScriptedModel()
        try await Workshop.run(model) { workshop in
            var input = workshop.input("Hello", model: "one")
            input.chat.options.temperature = 0.5
            input.chat.extras = ["project_id": "p", "mcp": [:]]
            _ = try await workshop.turns.run(input) { _ in }
            #expect(model.requests[0].options.temperature == 0.5)
            #expect(model.requests[0].model == "one")
            #expect(model.requests[0].extras == [:])
        }
    }

    @Test("An invalid turn is refused before the first event and leaves nothing running")
    func refuses() async throws {
        try await Workshop.run(ScriptedModel()) { workshop in
            let turns = workshop.turns
            func refused(_ change: (inout TurnInput) -> Void) async throws -> GatewayError.Kind? {
                var input = workshop.input("Hello")
                change(&input)
                let heard = Heard()
                let kind = try await refusal { [input] in _ = try await turns.run(input) { heard.receive($0) } }
                #expect(heard.events == [])
                #expect(turns.running == 0)
                return kind
            }
            #expect(try await refused { $0.project = "none" } == .projectNotFound)
            #expect(try await refused { $0.session = "none" } == .sessionNotFound)
            #expect(try await refused { $0.chat.model = "gpt-900" } == .modelNotFound)
            #expect(try await refused { $0.chat.messages = [] } == .missingMessages)
            #expect(try await refused { $0.chat.messages = [Message(.system, "Be brief")] } == .missingUserMessage)
            #expect(try await refused { $0.chat.messages.append(Message(.assistant, "Hi")) } == .missingUserMessage)
            let other = try await workshop.store.createProject(NewProject(name: "Other", path: workshop.folder))
            let session = try await workshop.store.createSession(NewSession(project: other.id))
            #expect(try await refused { $0.session = session.id } == .invalid)
            let gone = try await workshop.store.createProject(
                NewProject(name: "Gone", path: "\(workshop.folder)/gone"))
            #expect(try await refused { $0.project = gone.id } == .folderMissing)
            #expect(try await workshop.store.stats().sessions == 1)
        }
    }

    @Test("A failing provider ends the turn with its reason, and the session stays usable")
    func providerFails() async throws {
        let model = ScriptedModel("scripted", .fail(Refusal()), .say("fine now"))
        try await Workshop.run(model) { workshop in
            let heard = Heard()
            let report = try await workshop.say("Hello", to: heard)
            #expect(report.failure?.code == "test.refused")
            #expect(heard.words == ["began"])
            let session = try #require(report.place.session)
            #expect(try await workshop.say("Again", session: session).text == "fine now")
            #expect(try await workshop.audit(session).map(\.action).contains("turn.ended"))
        }
    }

    @Test("A turn that cannot be stored ends with the store's error")
    func cannotStore() async throws {
        let model = ScriptedModel()
        try await Workshop.run(model) { workshop in
            model.add(
                .custom { [store = workshop.store] _ in
                    // Acts like another process that has taken over the session.
                    _ = try await store.database.write { try $0.run("DELETE FROM turns") }
                    return ChatAnswer(start: ChatStart(), message: Message(.assistant, "lost"), finish: .stop)
                })
            await #expect(throws: GatewayStoreError.self) { try await workshop.say("Hello") }
            #expect(workshop.turns.running == 0)
        }
    }

    @Test("There are spans for turn, model and tool")
    func traces() async throws {
        let sink = Spans()
        let days = Days()
        let tracer = Tracer(sinks: [sink], now: { days.next })
        let model = ScriptedModel("scripted", .call([.named("ls")]), .say("done"))
        try await Workshop.run(model, tracer: tracer) { workshop in
            _ = try await workshop.say("Look")
            let names = sink.names.filter { !$0.contains("gateway.db") }
            #expect(names == ["gateway.model", "execute_tool ls", "gateway.model", "gateway.turn"])
        }
    }
}
