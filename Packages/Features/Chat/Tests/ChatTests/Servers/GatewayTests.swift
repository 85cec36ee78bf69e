import Capabilities
import CoreTesting
import HTTPCore
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@Suite("Messages to a gateway", .timeLimit(.minutes(5)))
struct GatewayTests {
    private static let ids = "X-Session-ID: s-1\r\nX-Project-ID: p-1\r\n"

    /// A desk whose provider is a gateway that gives this answer to every question.
    private func withGateway(
        _ script: @escaping ScriptedServer.Script, isolation: isolated (any Actor)? = #isolation,
        _ body: (inout Desk) async throws -> Void
    ) async throws {
        try await Desk.run(script) { desk in
            desk.environment = [
                "GATEWAY_BASE_URL": "http://127.0.0.1:\(desk.server.port)", "GATEWAY_API_KEY": Desk.key,
            ]
            try await body(&desk)
        }
    }

    private static let plain =
        Answers.first + Answers.piece("Looking.")
        + #"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","#
        + #""function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}}]}}]}"# + "\n\n"
        + Answers.piece(" Two files.") + Answers.callEnd

    private static let rich =
        Answers.first + Answers.piece("Looking.")
        + #"data: {"object":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}"# + "\n\n"
        + #"data: {"object":"tool_result","tool_id":"t1","duration_ms":12,"exit_code":0,"content":"a b"}"# + "\n\n"
        + #"data: {"object":"weather","sky":"blue"}"# + "\n\n" + Answers.piece(" Two files.") + Answers.end

    @Test(  // row G-03
        "Server-side tools are shown in both dialects, and neither run again nor answered", arguments: [plain, rich])
    func dialects(stream: String) async throws {
        let isRich = stream == Self.rich
        try await withGateway {
            try $0.receiveRequest()
            try $0.begin(headers: Self.ids)
            try $0.send(stream)
        } _: { desk in
            let done = try await desk.say("What is here?", ["tools": true])
            #expect(done["result"] == "Looking. Two files." && done["num_turns"] == 1 && done["finish"] == "stop")
            #expect(desk.asked.count == 1 && desk.asked[0].tools.isEmpty)
            let types = done.types.filter { $0.hasPrefix("tool") }
            #expect(types == (isRich ? ["tool_use", "tool_result"] : ["tool_use"]))
            let id = try #require(done["session_id"])
            let calls = try await desk.run("chat.inspect", ["conversation": id]).json.array ?? []
            #expect(calls.map { $0["tool"] } == ["Bash"])
            // It has no memory between calls, so it receives all earlier messages, but not its own tool calls.
            try await desk.say("And now?", ["conversation": id])
            try #require(desk.asked.count == 2)
            #expect(desk.asked[1].last.contains("What is here?") && desk.asked[1].last.hasSuffix("And now?"))
            #expect(desk.asked[1].json["messages"]?.array?.contains { $0["role"] == "tool" } == false)
        }
    }

    @Test("A stop also stops the gateway, and what arrived is kept")  // row G-05
    func stop() async throws {
        try await withGateway { connection in
            if try connection.receiveRequest().method == "DELETE" { return try connection.respond("{}") }
            try connection.begin(headers: Self.ids)
            try connection.send(Answers.first + Answers.piece("Hel"))
            try connection.stall()
        } _: { desk in
            let heard = RecordingOutput()
            let task = Task { [desk] in try await desk.attempt("chat.send", ["message": "Hi"], to: heard) }
            await heard.wait(for: "Hel")
            task.cancel()
            let exit = try await task.value.exit
            #expect(exit == .interrupted)
            #expect(desk.server.record.requests.last?.method == "DELETE")
            #expect(desk.server.record.requests.last?.target == "/v1/chat/completions/s-1")
            let stored = try await desk.stored()
            #expect(stored == ["user: Hi", "assistant: Hel (stopped)"])
        }
    }

    @Test("A gateway that starts no agent and sends nothing is a failure")
    func empty() async throws {
        try await withGateway {
            try $0.stream(Answers.first + Answers.end)
        } _: { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.failure?.code == "chat.empty" && done.exit == .failed)
        }
    }

    @Test("A gateway with a rate limit and a wait time is asked again, and the user is told")  // row L-05
    func limited() async throws {
        try await withGateway { connection in
            connection.number == 0
                ? try connection.reply(Answers.error("Rate limit exceeded"), status: 429, headers: "Retry-After: 0\r\n")
                : try connection.stream(Answers.say("Hello"))
        } _: { desk in
            let done = try await desk.say("Hi")
            #expect(done["result"] == "Hello")
            #expect(done.notices.contains("too many requests"), "\(done.notices)")
            #expect(done.notices.contains("trying again"))
        }
    }

    @Test("A wait that is too long is reported with its time")  // row L-05
    func limitedLong() async throws {
        try await withGateway {
            try $0.reply(Answers.error("Rate limit exceeded"), status: 429, headers: "Retry-After: 3600\r\n")
        } _: { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.failure?.code == "chat.rate-limited" && done.exit == .unreachable)
            #expect(done.failure?.details["retryAfterSeconds"]?.double == 3600)
            #expect(desk.asked.count == 1)
        }
    }

    /// Asks for permission to write, reports the reply, and ends. The reply comes on another connection.
    private static func asking(
        _ answered: AsyncStream<JSON>.Continuation, letsMakeRules: Bool = true, effect: String = "writes"
    ) -> ScriptedServer.Script {
        let told = Gate()
        return { connection in
            let request = try connection.receiveRequest()
            guard request.target == "/v1/chat/completions" else {
                let body = try JSON(parsing: request.body)
                answered.yield(["path": .string(request.target), "body": body])
                if !letsMakeRules, body["scope"] == "project" {
                    return try connection.respond(Answers.error("this needs admin"), status: 403)
                }
                try connection.respond("{}")
                return told.open()
            }
            try connection.begin(headers: Self.ids)
            try connection.send(
                Answers.first + Answers.piece("I write.")
                    + #"data: {"object":"tool_use","id":"t1","name":"fs.write","input":{"path":"a.txt"}}"# + "\n\n"
                    + #"data: {"object":"approval_request","id":"approval_1","session_id":"s-1","tool_id":"t1","#
                    + #""name":"fs.write","source":"files","input":{"path":"a.txt"},"effect":"\#(effect)","#
                    + #""summary":"Writes","expires_in_ms":60000}"# + "\n\n")
            try told.hold(connection)
            try connection.send(
                #"data: {"object":"tool_result","tool_id":"t1","content":"so"}"# + "\n\n"
                    + Answers.piece(" Done.") + Answers.end)
        }
    }

    @Test(
        "An approval question of the gateway is answered by the user, once",
        arguments: [
            ("Yes, this once", ["allow": true]), ("Yes, in this conversation", ["allow": true, "scope": "session"]),
            ("Yes, in this project", ["allow": true, "scope": "project"]), ("No", ["allow": false]),
            ("No, and say why", ["allow": false, "reason": "use glue"]),
        ] as [(String, JSON)])
    func approves(words: String, body: JSON) async throws {
        let (answers, answered) = AsyncStream.makeStream(of: JSON.self)
        try await withGateway(Self.asking(answered)) { desk in
            let person = ScriptedPerson(["chat.approve": [.string(words)], "chat.approve.reason": ["use glue"]])
            desk.person = person
            let done = try await desk.say("Write")
            answered.finish()
            let told = await answers.reduce(into: [JSON]()) { $0.append($1) }
            #expect(told == [["path": "/v1/sessions/s-1/approvals/approval_1", "body": body]])
            #expect(done["result"] == "I write. Done." && done.exit == .done)
            #expect(person.asked.first == "chat.approve" && done.notices.contains("a.txt"))
            #expect(desk.asked.first?.headers["X-Martlet-Approvals"] == nil)
        }
    }

    @Test(
        "A refused project rule becomes a rule for the conversation, and the user is told"
    )
    func lesserRight() async throws {
        let (answers, answered) = AsyncStream.makeStream(of: JSON.self)
        try await withGateway(Self.asking(answered, letsMakeRules: false)) { desk in
            desk.person = ScriptedPerson(["chat.approve": ["Yes, in this project"]])
            let done = try await desk.say("Write")
            answered.finish()
            let told = await answers.reduce(into: [JSON?]()) { $0.append($1["body"]?["scope"]) }
            #expect(told == ["project", "session"])
            #expect(done["result"] == "I write. Done." && done.exit == .done)
            #expect(done.notices.contains("applies to this conversation only"), "\(done.notices)")
        }
    }

    /// The effect of the tool is whatever the server claims.
    @Test(
        "An approval question without a terminal is denied at once, and the exit code says so",
        arguments: ["writes", "reads"])
    func nobody(effect: String) async throws {
        let (answers, answered) = AsyncStream.makeStream(of: JSON.self)
        try await withGateway(Self.asking(answered, effect: effect)) { desk in
            let done = try await desk.say("Write")
            answered.finish()
            let told = await answers.reduce(into: [JSON]()) { $0.append($1) }
            #expect(told.map { $0["body"]?["allow"] } == [false])
            #expect(done.exit == .unanswered)
        }
    }

    @Test("A prepared answer that does not match approves nothing, and the exit code says so")
    func unfit() async throws {
        let (answers, answered) = AsyncStream.makeStream(of: JSON.self)
        try await withGateway(Self.asking(answered)) { desk in
            desk.person = HeadlessInteraction(answers: ["chat.approve": 3])
            let done = try await desk.say("Write")
            answered.finish()
            let told = await answers.reduce(into: [JSON]()) { $0.append($1) }
            #expect(told.map { $0["body"]?["allow"] } == [false])
            #expect(done.exit == .usage && done.notices.contains("must be one of"))
        }
    }

    @Test("A named project is sent by its id, and its session continues")
    func projectName() async throws {
        try await withGateway { connection in
            let request = try connection.receiveRequest()
            guard request.method == "POST" else {
                let more = request.target.contains("page=1&")
                let row = more ? #"{"id":"p-9","name":"other"}"# : #"{"id":"p-1","name":"mine"}"#
                return try connection.respond(#"{"data":[\#(row)],"pagination":{"has_next":\#(more)}}"#)
            }
            try connection.begin(headers: Self.ids)
            try connection.send(Answers.say("Hello"))
        } _: { desk in
            let id = try #require(try await desk.say("Hi", ["project": "mine"])["session_id"])
            try await desk.say("Again", ["project": "mine", "conversation": id])
            #expect(desk.asked.map { $0.json["project_id"] } == ["p-1", "p-1"])
            #expect(desk.asked.map { $0.json["session_id"] } == [nil, "s-1"])
            let done = try await desk.attempt("chat.send", ["message": "Hi", "project": "mime"])
            #expect(done.failure?.code == "chat.unknown-project" && done.exit == .usage)
            #expect(done.failure?.message.contains("did you mean 'mine'?") == true)
        }
    }
}
