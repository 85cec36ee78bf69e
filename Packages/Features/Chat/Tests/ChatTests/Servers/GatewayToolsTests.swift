import Capabilities
import CoreTesting
import HTTPCore
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

/// What the person chose of the tools of a gateway for its new sessions.
@Suite("The chosen tools of a gateway", .timeLimit(.minutes(5)))
struct GatewayToolsTests {
    /// What the gateway answers besides `Hello` to each question.
    private struct Script: Sendable {
        /// The answer to who asks for its tool servers: a status and a body.
        var servers = (200, #"{"data":[]}"#)
        /// What it says of its session; nil if it has no such route.
        var status: JSON?
        /// How it refuses the question with this number.
        var refusals: [Int: (Int, JSON)] = [:]
    }

    /// A desk with that gateway, and with what was chosen for its new sessions; nothing if it is empty.
    private func withGateway(
        _ script: Script, choosing choice: String, isolation: isolated (any Actor)? = #isolation,
        _ body: (inout Desk) async throws -> Void
    ) async throws {
        let questions = Counter()
        try await Desk.run(with: [ToolChooser.self]) { connection in
            let request = try connection.receiveRequest()
            if request.target.hasPrefix("/v1/mcp/servers") {
                return try connection.respond(script.servers.1, status: script.servers.0)
            }
            if request.target.hasSuffix("/status") {
                return try script.status.map { try connection.respond($0.text()) }
                    ?? connection.respond(#"{"detail":"Not Found"}"#, status: 404)
            }
            let number = questions.next()
            if let (status, body) = script.refusals[number] {
                return try connection.respond(body.text(), status: status)
            }
            try connection.begin(headers: "X-Session-ID: s-\(number)\r\n")
            try connection.send(Answers.say("Hello"))
        } _: { desk in
            desk.environment = [
                "GATEWAY_BASE_URL": "http://127.0.0.1:\(desk.server.port)", "GATEWAY_API_KEY": Desk.key,
                ToolChooser.variable: choice,
            ]
            try await body(&desk)
        }
    }

    private static let choice = #"{"servers":["git"],"tools":["log"],"priority":["git"],"audit":true}"#
    private static let sent: JSON = [
        "enabled_servers": ["git"], "enabled_tools": ["log"], "priority": ["git"], "audit_log": true,
    ]

    /// How a session says what it applies.
    private static func session(_ members: JSON) -> JSON {
        var session = members.object ?? [:]
        session["session_id"] = "s-0"
        return .object(session)
    }

    @Test("What was chosen goes with the message that starts a session and with no other")  // row G-02, G-22
    func once() async throws {
        try await withGateway(Script(status: Self.session(Self.sent)), choosing: Self.choice) { desk in
            let first = try await desk.say("Hi", ["project": "5f3a9c1e-0000-4000-8000-000000000001"])
            let id = try #require(first["session_id"])
            #expect(first.notices.contains("chosen for gateway in 5f3a9c1e-0000-4000-8000-000000000001"))
            #expect(!first.notices.contains("does not all count"), "\(first.notices)")
            let second = try await desk.say("Again", ["conversation": id])
            #expect(!second.notices.contains("chosen for"))
            #expect(desk.asked.map { $0.json["mcp"] } == [Self.sent, nil])
            #expect(desk.asked.map { $0.json["session_id"] } == [nil, "s-0"])
            let looks = desk.server.record.requests.filter { $0.method == "GET" }.map(\.target)
            #expect(looks.count == 2 && looks.last == "/v1/chat/completions/s-0/status", "\(looks)")
            // The control: nothing was chosen, so that nothing is sent or asked.
            desk.environment[ToolChooser.variable] = ""
            try await desk.say("Hi")
            #expect(desk.asked.last?.json["mcp"] == nil && desk.server.record.requests.last?.method == "POST")
        }
    }

    @Test(
        "A session that applies something else is told",
        arguments: [
            (
                ["enabled_servers": ["git"], "priority": [], "audit_log": false],
                "(tools, priority, audit log); 'martlet mcp gateway list --gateway gateway --session s-0' shows"
            ), (["is_running": false], "(tool servers, tools, priority, audit log)"), (nil, "(tool servers, tools,"),
        ] as [(JSON?, String)])
    func differs(status: JSON?, words: String) async throws {
        let script = Script(status: status.map(Self.session))
        try await withGateway(script, choosing: Self.choice) { desk in
            let done = try await desk.say("Hi")
            #expect(done["result"] == "Hello" && done.notices.contains(words), "\(done.notices)")
            #expect(desk.asked.first?.json["mcp"] == Self.sent)
        }
    }

    @Test("A gateway without a choice of tools gets none, which is told once with what to do")
    func lacks() async throws {
        try await withGateway(Script(servers: (404, #"{"detail":"Not Found"}"#)), choosing: Self.choice) { desk in
            let first = try await desk.say("Hi")
            let id = try #require(first["session_id"])
            #expect(first["result"] == "Hello" && first.notices.contains("was not sent and does not count"))
            #expect(first.notices.contains("'martlet mcp gateway use --default --gateway gateway --reset'"))
            let second = try await desk.say("Again", ["conversation": id])
            #expect(!second.notices.contains("was not sent"))
            #expect(desk.asked.map { $0.json["mcp"] } == [nil, nil])
        }
    }

    @Test("Nothing is asked of a gateway that does not say what it has, because the session would have more tools")
    func fails() async throws {
        try await withGateway(Script(servers: (503, Answers.error("starting"))), choosing: Self.choice) { desk in
            let failure = try await desk.attempt("chat.send", ["message": "Hi"]).failure
            #expect(failure?.code == "chat.not-ready" && failure?.exit == .unreachable && desk.asked.isEmpty)
            #expect(failure?.message.contains("cannot be sent: gateway is not ready") == true)
            #expect(failure?.message.contains("--reset' forgets the choice") == true, "\(failure?.message ?? "")")
        }
    }

    @Test("A refused choice names the command that changes it, and the same refusal without one does not")
    func refused() async throws {
        let error: JSON = [
            "code": "unknown_tool", "message": "there is no tool \"log\"; available are push", "param": "enabled_tools",
        ]
        let script = Script(refusals: [0: (404, ["error": error]), 1: (404, ["error": error])])
        try await withGateway(script, choosing: Self.choice) { desk in
            let refused = try await desk.attempt("chat.send", ["message": "Hi"]).failure
            #expect(refused?.code == "chat.invalid-request" && desk.asked.count == 1)
            #expect(refused?.message.contains("gateway refused what you chose of its tools: there is no tool") == true)
            #expect(refused?.message.contains("'martlet mcp gateway use --default --gateway gateway'") == true)
            desk.environment[ToolChooser.variable] = ""
            let plain = try await desk.attempt("chat.send", ["message": "Hi"]).failure
            #expect(plain?.code == "chat.invalid-request" && plain?.message.contains("mcp gateway use") == false)
        }
    }

    @Test("A session that takes the place of a lost one starts with what was chosen, too")
    func lost() async throws {
        let error: JSON = ["code": "session_not_found", "message": "Session s-0 not found"]
        let script = Script(status: Self.session(Self.sent), refusals: [1: (404, ["error": error])])
        try await withGateway(script, choosing: Self.choice) { desk in
            let id = try #require(try await desk.say("Hi")["session_id"])
            let again = try await desk.say("Again", ["conversation": id])
            #expect(again["result"] == "Hello" && again.notices.contains("starting a new one"))
            #expect(desk.asked.map { $0.json["session_id"] } == [nil, "s-0", nil])
            #expect(desk.asked.map { $0.json["mcp"] } == [Self.sent, nil, Self.sent])
        }
    }
}
