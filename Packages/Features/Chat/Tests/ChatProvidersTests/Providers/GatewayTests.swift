import Capabilities
import ChatProviders
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Gateway", .timeLimit(.minutes(5)))
struct GatewayTests {
    private static let ids = "X-Session-ID: s-1\r\nX-Project-ID: p-1\r\n"

    @Test("A gateway names its session in headers and receives it with the next question")
    func session() async throws {
        try await Fixture.run(as: "gateway", path: "") {
            try $0.stream(Stream.hello, headers: Self.ids)
        } _: { fixture in
            let provider = try await fixture.provider()
            let first = try await fixture.heard.ask(provider)
            #expect(first.start.session == "s-1")
            #expect(fixture.heard.start?.session == "s-1")
            #expect(fixture.heard.start?.project == "p-1")
            var request = ChatRequest.hello
            request.extras = ["session_id": "s-1", "project_id": "p-1"]
            _ = try await fixture.heard.ask(provider, request)
            let requests = fixture.server.record.requests
            #expect(requests.map { $0.json["session_id"] } == [nil, "s-1"])
            #expect(requests.first?.target == "/v1/chat/completions")
        }
    }

    @Test("A gateway may name its session in the body, or not at all")
    func sessionElsewhere() async throws {
        let body =
            #"{"session_id":"s-2","object":"chat.completion","model":"m","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#
        try await Fixture.run(as: "gateway") { connection in
            if connection.number == 0 { try connection.reply(body) } else { try connection.stream(Stream.hello) }
        } _: { fixture in
            let provider = try await fixture.provider()
            let session = try await fixture.heard.ask(provider).start.session
            #expect(session == "s-2")
            var request = ChatRequest.hello
            request.extras = ["session_id": "s-2"]
            let again = try await fixture.heard.ask(provider, request).start.session
            #expect(again == "s-2")
        }
    }

    @Test("A gateway with the rich dialect reports tools that it has run, which are never run again")
    func rich() async throws {
        let frames =
            Stream.first + Stream.text("Looking.")
            + #"data: {"object":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}"# + "\n\n"
            + #"data: {"object":"tool_result","tool_id":"t1","name":"Bash","is_error":false,"duration_ms":12,"exit_code":0,"content":"a b"}"#
            + "\n\n" + Stream.end
        try await Fixture.run(as: "gateway") {
            try $0.stream(frames)
        } _: { fixture in
            let answer = try await fixture.heard.ask(fixture.provider())
            #expect(answer.message.calls.map(\.name) == ["Bash"])
            #expect(answer.message.calls.map(\.isDone) == [true])
            #expect(
                fixture.heard.events.contains {
                    if case .result(let result) = $0 { result.content == "a b" } else { false }
                })
        }
    }

    @Test("A gateway is told to end the session when the user stops the answer")
    func stop() async throws {
        try await Fixture.run(as: "gateway") { connection in
            let request = try connection.receiveRequest()
            if request.method == "DELETE" { return try connection.answer(200, ["Connection": "close"], "{}") }
            try connection.begin(headers: Self.ids)
            try connection.send(Stream.first + Stream.text("Hel"))
            try connection.stall()
        } _: { fixture in
            let provider = try await fixture.provider()
            let (begun, signal) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await provider.answer(.hello) { events in
                    if events.contains(.text("Hel")) { signal.yield() }
                }
            }
            var iterator = begun.makeAsyncIterator()
            _ = await iterator.next()
            let start = ContinuousClock.now
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(ContinuousClock.now - start < .seconds(20))
            await fixture.directory.close()
            let last = try #require(fixture.server.record.requests.last)
            #expect(last.method == "DELETE")
            #expect(last.target == "/v1/chat/completions/s-1")
            #expect(last.headers["Authorization"] == "Bearer \(Fixture.key)")
        }
    }

    @Test("A gateway is not told to stop an answer that has ended")
    func noStop() async throws {
        try await Fixture.run(as: "gateway") {
            try $0.stream(Stream.hello, headers: Self.ids)
        } _: { fixture in
            _ = try await fixture.heard.ask(fixture.provider())
            await fixture.directory.close()
            #expect(fixture.server.record.requests.map(\.method) == ["POST"])
        }
    }

    @Test("A gateway that is not working is not told to stop when the user gives up")
    func stopWhileWaiting() async throws {
        let clock = TestClock()
        try await Fixture.run(as: "gateway") { setup in
            setup.clock = clock
        } _: {
            try $0.reply(429, Stream.error("Rate limit exceeded"))
        } _: { fixture in
            let provider = try await fixture.provider()
            var request = ChatRequest.hello
            request.extras = ["session_id": "s-1"]
            let task = Task { [request] in try await fixture.heard.ask(provider, request) }
            await clock.waitForSleeper(in: task)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await fixture.directory.close()
            #expect(fixture.server.record.requests.map(\.method) == ["POST"])
        }
    }

    @Test("A session name that could change a path is not sent", arguments: ["../projects/p-1", "..", "."])
    func hostileSession(name: String) async throws {
        try await Fixture.run(as: "gateway") { connection in
            try connection.stream(Stream.first + Stream.text("Hel"), headers: "X-Session-ID: \(name)\r\n")
            try connection.stall()
        } _: { fixture in
            struct Enough: Error {}
            let provider = try await fixture.provider()
            await #expect(throws: Enough.self) {
                try await provider.answer(.hello) { events in if events.contains(.text("Hel")) { throw Enough() } }
            }
            await fixture.directory.close()
            #expect(fixture.server.record.requests.count == 1)
        }
    }

    @Test("A gateway that ended the session gets a new one, and the user is told")
    func lostSession() async throws {
        try await Fixture.run(as: "gateway") { connection in
            guard connection.number > 0 else {
                return try connection.reply(404, Stream.error("Session s-0 not found", code: "\"session_not_found\""))
            }
            try connection.stream(Stream.hello, headers: Self.ids)
        } _: { fixture in
            var request = ChatRequest.hello
            request.extras = ["session_id": "s-0", "project_id": "p-1"]
            let answer = try await fixture.heard.ask(fixture.provider(), request)
            #expect(answer.start.session == "s-1")
            #expect(fixture.server.record.requests.map { $0.json["session_id"] } == ["s-0", nil])
            #expect(fixture.server.record.requests.last?.json["project_id"] == "p-1")
            #expect(fixture.heard.notices == ["the server has ended the session; starting a new one"])
        }
    }

    @Test("A gateway that limits requests without a wait time is left alone for a minute")
    func minute() async throws {
        try await Fixture.run(as: "gateway") { connection in
            guard connection.number > 0 else { return try connection.reply(429, Stream.error("Rate limit exceeded")) }
            try connection.stream(Stream.hello)
        } _: { fixture in
            try await fixture.expectHello()
            #expect(fixture.clock.slept == [.seconds(60)])
        }
    }

    /// Failures after which it is unknown whether tools were used.
    enum Failure: String, CaseIterable, Sendable {
        case badGateway, unavailable, timedOut, overloaded, reset, cut, silent, inStream

        func play(_ connection: ScriptedConnection) throws {
            switch self {
            case .badGateway: try connection.reply(502, Stream.error("bad gateway"))
            case .unavailable: try connection.reply(503, Stream.error("Failed to start Claude Code"))
            case .timedOut: try connection.reply(504, "<html>504</html>", type: "text/html")
            case .overloaded: try connection.reply(529, Stream.error("overloaded"))
            case .reset:
                try connection.receiveRequest()
                connection.reset()
            case .cut: try connection.stream(Stream.first)
            case .silent:
                try connection.stream(Stream.first)
                try connection.stall()
            case .inStream:
                try connection.stream(
                    Stream.first + "data: \(Stream.error("overloaded", code: "503"))\n\n" + Stream.done)
            }
        }
    }

    @Test(
        "A gateway that may have run tools is never asked again, and the user is told to check",
        arguments: Failure.allCases, [true, false])
    func onceOnly(failure: Failure, streams: Bool) async throws {
        try await Fixture.run(as: "gateway") { setup in
            setup.limits.idle = .milliseconds(200)
        } _: {
            try failure.play($0)
        } _: { fixture in
            var request = ChatRequest.hello
            request.streams = streams
            let error = await #expect(throws: ChatError.self) {
                try await fixture.heard.ask(fixture.provider(), request)
            }
            #expect(fixture.server.record.requests.count { $0.method == "POST" } == 1)
            #expect(fixture.clock.slept.isEmpty)
            #expect(error?.message.contains("check what it has done") == true, "\(error?.message ?? "")")
        }
    }

    @Test(
        "A gateway that certainly has not started is asked again",
        arguments: [
            (409, "", "This session is busy"), (429, "Retry-After: 1\r\n", "slow down"),
            (503, "Retry-After: 1\r\n", "starting"), (503, "", "Maximum concurrent sessions (10) reached"),
        ])
    func again(status: Int, headers: String, words: String) async throws {
        try await Fixture.run(as: "gateway") { connection in
            guard connection.number > 0 else {
                let code = status == 409 ? "\"session_busy\"" : "null"
                return try connection.reply(status, Stream.error(words, code: code), headers: headers)
            }
            try connection.stream(Stream.hello)
        } _: { fixture in
            try await fixture.expectHello()
            #expect(fixture.server.record.requests.count == 2)
        }
    }

    @Test("A server that forbids a retry is not asked again", arguments: ["gateway", "openai"])
    func shouldNotRetry(id: String) async throws {
        try await Fixture.run(as: id) {
            try $0.reply(429, Stream.error("busy"), headers: "x-should-retry: false\r\nRetry-After: 0\r\n")
        } _: { fixture in
            await #expect(throws: ChatError.self) { try await fixture.heard.ask(fixture.provider()) }
            #expect(fixture.server.record.requests.count { $0.method == "POST" } == 1)
        }
    }

    @Test("A gateway is told by a client that cannot approve, and reports what it therefore did not run")
    func cannotAnswer() async throws {
        let end = #"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"unapproved":true}"# + "\n\n"
        try await Fixture.run(as: "gateway") {
            try $0.stream(Stream.first + Stream.text("No.") + end + Stream.done, headers: Self.ids)
        } _: { fixture in
            let answer = try await fixture.heard.ask(fixture.provider())
            #expect(answer.isUnapproved)
            #expect(fixture.server.record.requests.first?.headers["X-Martlet-Approvals"] == "deny")
        }
    }

    @Test("A gateway lists its models with their abilities, or without if it has no such list")
    func models() async throws {
        for hasCapabilities in [true, false] {
            try await Fixture.run(as: "gateway") { connection in
                let request = try connection.receiveRequest()
                let isBetter = request.target == "/v1/models/capabilities"
                guard !isBetter || hasCapabilities else {
                    return try connection.answer(
                        404, ["Connection": "close"], Stream.error("no", code: "\"model_not_found\""))
                }
                let entry = isBetter ? #"{"id":"m","max_tokens":200000,"supports_tools":true}"# : #"{"id":"m"}"#
                try connection.answer(200, ["Connection": "close"], "{\"data\":[\(entry)]}")
            } _: { fixture in
                let models = try await fixture.provider().models()
                #expect(models.map(\.id) == ["m"])
                #expect((models.first?.contextTokens != nil) == hasCapabilities)
            }
        }
    }

    @Test("A gateway is offered as an agent server, with the key that it gets from others too")
    func agentServer() async throws {
        try await Fixture.run(as: "gateway", path: "") {
            try $0.reply(#"{"data":[{"id":"git","name":"Git"}]}"#)
        } _: { fixture in
            let server = try #require(try await fixture.provider().agentServer())
            #expect(fixture.server.record.requests.isEmpty && server.server == ServerID("gateway"))
            #expect(try await server.toolServers(.all, project: nil).value?.map(\.id) == ["git"])
            let request = try #require(fixture.server.record.requests.first)
            #expect(request.target == "/v1/mcp/servers?scope=all")
            #expect(request.headers["Authorization"] == "Bearer \(Fixture.key)")
            #expect(try await fixture.directory.provider(named: "openai").agentServer() == nil)
        }
    }

    @Test("A gateway gets no key that is meant for another address")
    func otherAddress() async throws {
        try await ScriptedServer.run {
            try $0.stream(Stream.hello)
        } during: { server in
            var setup = ProviderSetup(environment: [
                "LAB_API_KEY": Fixture.key, "LAB_BASE_URL": "http://127.0.0.1:1/", "GATEWAY_API_KEY": Fixture.key,
            ])
            setup.servers = [ChatServer(name: "lab", address: "http://127.0.0.1:\(server.port)", kind: .gateway)]
            let provider = try await ProviderDirectory(setup).provider(named: "lab")
            _ = try await Heard().ask(provider)
            #expect(server.record.requests.first?.headers["Authorization"] == nil)
            await setup.client.close()
        }
    }
}
