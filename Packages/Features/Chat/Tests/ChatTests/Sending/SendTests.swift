import Capabilities
import ChatHistory
import ChatProviders
import CoreTesting
import HTTPCore
import HTTPTesting
import HostTesting
import JSON
import OpenAIDialect
import Registry
import StorageKit
import Testing

@Suite("Sending a message", .timeLimit(.minutes(5)))
struct SendTests {
    @Test("A message is answered in ordered pieces, and both are stored")
    func answered() async throws {
        try await Desk.run(answers: Answers.first + Answers.piece("Hel") + Answers.piece("lo") + Answers.end) { desk in
            let done = try await desk.say("Hi there", ["system": "Be brief."])
            #expect(done.types.first == "init")
            #expect(Set(done.types.dropFirst()) == ["message"])
            #expect(done.output.text == "Hello")
            #expect(done["failed_tools"] == 0)
            #expect(done["result"] == "Hello" && done["finish"] == "stop" && done["num_turns"] == 1)
            #expect(done["model"] == "small-1" && done["provider"] == "openai")
            #expect(done["session_id"] == done.output.events.first?.fields["session_id"])
            #expect(desk.asked.first?.said == ["system: Be brief.", "user: Hi there"])
            #expect(desk.asked.first?.json["stream"] == true)
            #expect(desk.asked.first?.headers["Authorization"] == "Bearer \(Desk.key)")
            #expect(try await desk.stored() == ["user: Hi there", "assistant: Hello"])
        }
    }

    @Test(
        "A blank message is refused, even where a conversation could start",
        arguments: [["input": "\n"], ["input": " \t\n", "message": " "], ["message": ""]] as [JSONObject])
    func blank(arguments: JSONObject) async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            let person = ScriptedPerson(types: "one")
            for somebody in [person, HeadlessInteraction()] as [any Interaction] {
                desk.person = somebody
                let done = try await desk.attempt("chat.send", arguments)
                #expect(done.exit == .usage && done.failure?.code == "usage.arguments")
                #expect(done.failure?.message.contains("the input is blank") == true)
            }
            #expect(person.asked.isEmpty && desk.asked.isEmpty)
            // Blank input beside a message is not sent.
            try await desk.say("Hi", ["input": "\n"])
            #expect(desk.asked.map(\.last) == ["user: Hi"])
        }
    }

    @Test("The result has the usage, and the cost if the price is known")
    func usage() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            let known = try await desk.say("Hi", ["model": "openai/gpt-5-mini"])
            #expect(known["usage"]?["input_tokens"] == 9 && known["usage"]?["output_tokens"] == 2)
            let cost = try #require(known["total_cost_usd"]?.double)
            #expect(cost > 0 && cost < 0.001)
            let unknown = try await desk.say("Hi", ["model": "openai/house-model"])
            #expect(unknown["usage"]?["input_tokens"] == 9)
            // Unknown is not zero.
            #expect(unknown["total_cost_usd"]?.double == nil)
        }
    }

    @Test("A message is sent before it is stored, and stored before its answer is shown")
    func quick() async throws {
        let (gate, isFirst) = (Gate(), Counter())
        try await Desk.run { connection in
            try connection.receiveRequest()
            // Until now no other writer was possible.
            if isFirst.next() == 1 { gate.open() }
            try connection.begin()
            try connection.send(Answers.say("Hello"))
        } _: { desk in
            try await desk.say("one")
            let history = History("\(desk.folder)/data/chat.db", now: { Timestamp(microseconds: 0) })
            async let holding: Void = history.database.write { _ in gate.pass() }
            try await gate.reached()
            let done = try await desk.say("two", ["model": "openai/small"])
            try await holding
            await history.close()
            #expect(done["result"] == "Hello" && done.types.first == "init" && done.notices == "")
            #expect(done.output.events.first?.fields["session_id"] == done["session_id"])
            #expect(try await desk.stored() == ["user: two", "assistant: Hello"])
        }
    }

    @Test("A message leaves no trace with --no-save")
    func unsaved() async throws {
        try await Desk.run(answers: Answers.say("Hello")) { desk in
            let done = try await desk.say("Hi", ["no-save": true])
            #expect(done["result"] == "Hello")
            #expect(done["session_id"]?.string == nil)
            #expect(done.output.events.first?.fields["session_id"] == nil)
            #expect(try await desk.run("chat.list").json == [])
        }
    }

    @Test("A message can be answered without streaming")
    func whole() async throws {
        let body = #"""
            {"id":"c2","object":"chat.completion","model":"small-1","choices":[{"index":0,"message":{"role":"assistant",
            "content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}
            """#
        try await Desk.run({ try $0.reply(body) }) { desk in
            let done = try await desk.say("Hi", ["no-stream": true])
            #expect(done.output.text == "Hello" && done["result"] == "Hello")
            #expect(desk.asked[0].json["stream"] != true)
            desk.settings = "{chat: {stream: false}}"
            #expect(try await desk.say("Hi")["result"] == "Hello")
            #expect(desk.asked[1].json["stream"] != true)
        }
    }

    @Test("An answer cut off at a limit says so")
    func truncated() async throws {
        try await Desk.run(answers: Answers.first + Answers.piece("Hel") + Answers.cutEnd) { desk in
            let done = try await desk.say("Hi")
            #expect(done["finish"] == "length" && done.exit == .done)
            #expect(try await desk.stored() == ["user: Hi", "assistant: Hel (truncated)"])
        }
    }

    @Test("Reasoning is shown apart from the text, and unsigned reasoning is not sent again")
    func thoughts() async throws {
        try await Desk.run(
            answers: Answers.first + Answers.think("Hm, ") + Answers.think("so.") + Answers.piece("Yes") + Answers.end,
            Answers.say("No")
        ) { desk in
            let done = try await desk.say("Hi")
            let thoughts = done.output.events.filter { $0.type == "reasoning" }
            #expect(thoughts.compactMap { $0.fields["delta"]?.string }.joined() == "Hm, so.")
            #expect(done.output.text == "Yes" && done["result"] == "Yes")
            try await desk.say("Sure?", ["continue": true])
            #expect(desk.asked[1].said.dropFirst() == ["user: Hi", "assistant: Yes", "user: Sure?"])
        }
    }

    @Test("A missing message without a terminal is a usage error")
    func nothing() async throws {
        try await Desk.run(answers: Answers.say("x")) { desk in
            let done = try await desk.attempt("chat.send")
            #expect(done.exit == .usage)
            #expect(desk.asked.isEmpty)
        }
    }

    @Test("Without any provider, three lines say what can be done")
    func nobody() async throws {
        try await Desk.run(answers: Answers.say("x")) { desk in
            desk.environment = [:]
            // Nothing can listen at that port.
            desk.localServers = [LocalServer(id: "ollama", name: "Ollama", port: 1, quirks: .ollama)]
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            let lines = (done.failure?.message ?? "").split(separator: "\n")
            try #require(lines.count == 3)
            #expect(lines[0].contains("OPENAI_API_KEY") && lines[1].contains("Ollama"))
            #expect(lines[2].contains("GATEWAY_BASE_URL"))
            #expect(try await desk.run("chat.list").json == [])
        }
    }
}
