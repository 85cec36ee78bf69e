import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import RPCKit
import Synchronization
import Testing

@testable import MCPKit

@Suite("Messages over HTTP", .timeLimit(.minutes(2)))
struct HTTPMessageTests {
    @Test("A modern request says in its headers what it is")
    func modernHeaders() async throws {
        let tools = """
            {"resultType":"complete","tools":[{"name":"t\u{e4}g","inputSchema":{"type":"object","properties":\
            {"region":{"type":"string","x-mcp-header":"Region"}}}},{"name":"bad","inputSchema":{"type":"object",\
            "x-mcp-header":"Root"}}]}
            """
        let script = ScriptedMCP.modern { request, connection in
            if request.method == "tools/list" { return try connection.answer(request, tools) }
            try connection.answerCall(request, "done")
        }
        let handler = TestHandler()
        try await ScriptedMCP.run(script) { address, server in
            var address = address
            address.headers = ["X-Own": "1"]
            try await address.with(handler: handler) { client in
                let listed = try await client.tools()
                #expect(listed.map(\.name) == ["t\u{e4}g"])
                _ = try await client.call("t\u{e4}g", ["region": "west"])
            }
            #expect(handler.problems.count == 1 && handler.problems[0].contains("bad"))
            let requests = server.record.requests
            #expect(requests.map { $0.headers["Mcp-Method"] } == ["server/discover", "tools/list", "tools/call"])
            for request in requests {
                #expect(request.method == "POST" && request.headers["X-Own"] == "1")
                #expect(request.headers["Accept"] == "application/json, text/event-stream")
                #expect(request.headers["MCP-Protocol-Version"] == "2026-07-28")
                #expect(request.headers["MCP-Session-Id"] == nil)
            }
            #expect(requests[2].headers["Mcp-Name"] == "=?base64?dMOkZw==?=")
            #expect(requests[2].headers["Mcp-Param-Region"] == "west" && requests[1].headers["Mcp-Name"] == nil)
            // Connections are used again.
            #expect(server.record.connections.count == 1)
        }
    }

    @Test("A tool that wants other headers than before is looked up, and called again once")
    func mismatch() async throws {
        let refusals = Mutex(0)
        let script = ScriptedMCP.modern { request, connection in
            if request.method == "tools/list" {
                return try connection.answer(request, #"{"resultType":"complete","tools":[]}"#)
            }
            refusals.withLock { $0 += 1 }
            try connection.refuse(request, 400, -32020, "the headers do not match")
        }
        try await ScriptedMCP.run(script) { address, server in
            try await address.with { client in
                let error = await #expect(throws: MCPError.self) { try await client.call("tool") }
                #expect(error?.message.contains("-32020") == true)
            }
            #expect(refusals.withLock { $0 } == 2)
        }
    }

    @Test("A legacy session is named from its handshake to its end, and what the server asks is answered by a message")
    func legacySession() async throws {
        let answered = Signal()
        let legacy = ScriptedMCP.legacy { request, connection in
            if request.json["result"] != nil {
                try connection.answer(202)
                return answered.raise()
            }
            try connection.beginEvents()
            // The ids of both sides are apart.
            let id = request.json["id"] ?? .null
            let question = #"{"jsonrpc":"2.0","id":\#(id),"method":"roots/list"}"#
            try connection.send("event: message\r\ndata: \(question)\r\n\r\n")
            try connection.send("data: \(request.response(ScriptedConnection.result("done")))\n\n")
            throw ScriptError.stopped
        }
        let script: ScriptedMCP.Script = { request, connection in
            // The session of an error means nothing.
            if request.method == "server/discover" {
                return try connection.answer(400, ["Mcp-Session-Id": "wrong"], "no session")
            }
            try legacy(request, connection)
        }
        try await ScriptedMCP.run(script) { address, server in
            try await address.with(handler: TestHandler()) { client in
                let result = try await client.call("tool")
                #expect(result.parts == [.text("done")])
                try await answered.wait(beyond: 0)
                try await server.until { $0.requests.contains { $0.method == "GET" } }
            }
            let requests = server.record.requests
            let handshake = try #require(requests.first { $0.text.contains("\"initialize\"") })
            #expect(handshake.headers["MCP-Session-Id"] == nil && handshake.headers["MCP-Protocol-Version"] == nil)
            let rest = requests.filter { $0.headers["MCP-Session-Id"] != nil }
            #expect(rest.count == requests.count - 2 && rest.allSatisfy { $0.headers["MCP-Session-Id"] == "s-1" })
            #expect(rest.allSatisfy { $0.headers["MCP-Protocol-Version"] == "2025-11-25" })
            #expect(rest.allSatisfy { $0.headers["Mcp-Method"] == nil })
            #expect(rest.count { $0.method == "DELETE" } == 1)
            #expect(rest.contains { $0.text.contains("\"roots\"") })
        }
    }

    @Test("What belongs to no request comes on a stream of its own, which is opened again where it ended")
    func secondStream() async throws {
        let streams = Mutex(0)
        let legacy = ScriptedMCP.legacy { try $1.answerCall($0, "done") }
        let script: ScriptedMCP.Script = { request, connection in
            guard request.method == "GET" else { return try legacy(request, connection) }
            let number = streams.withLock { count in
                count += 1
                return count
            }
            try connection.beginEvents()
            let kind = number == 1 ? "tools" : "prompts"
            let notice = #"{"jsonrpc":"2.0","method":"notifications/\#(kind)/list_changed"}"#
            try connection.send("retry: 1\nid: e-\(number)\ndata: \(notice)\n\n")
            if number > 1 { try connection.stall() }
            throw ScriptError.stopped
        }
        let handler = TestHandler()
        try await ScriptedMCP.run(script) { address, server in
            try await address.with(handler: handler) { client in
                try await handler.wait { $0.changes == [.tools, .prompts] }
                let result = try await client.call("tool")
                #expect(result.parts == [.text("done")])
            }
            let gets = server.record.requests.filter { $0.method == "GET" }
            #expect(gets.map { $0.headers["Last-Event-ID"] } == [nil, "e-1"])
        }
    }

    // MARK: Sign-in

    /// Has one token after the other.
    private final class Tokens: ResourceSignIn {
        private let tokens: Mutex<(rest: [String], asked: [ResourceChallenge])>
        /// The person comes when this is settled.
        private let person: Promise<Void>?

        init(_ tokens: [String], person: Promise<Void>? = nil) {
            self.tokens = Mutex((tokens, []))
            self.person = person
        }

        var asked: [ResourceChallenge] { tokens.withLock { $0.asked } }

        func sign(_ request: inout RequestHead, for resource: ResourceAddress) async throws {
            guard let token = tokens.withLock({ $0.rest.first }) else { return }
            request.headers.append(("Authorization", Secret("Bearer \(token)")))
        }

        func forget(_ resource: ResourceAddress) async throws -> Bool { false }

        func answer(
            _ challenge: ResourceChallenge, to refused: RequestHead, for resource: ResourceAddress
        ) async throws -> Bool {
            tokens.withLock { $0.asked.append(challenge) }
            try await person?.value()
            return tokens.withLock { tokens in
                if tokens.rest.count > 1 { tokens.rest.removeFirst() } else { return false }
                return true
            }
        }
    }

    private static let guarded: ScriptedMCP.Script = { request, connection in
        guard request.http.headers["Authorization"] == "Bearer good" else {
            return try connection.answer(
                401,
                [
                    "WWW-Authenticate": #"Bearer resource_metadata="https://a.example/m", scope="one two""#,
                    "Content-Type": "application/json",
                ], #"{"error":"invalid_token","error_description":"who are you"}"#)
        }
        try ScriptedMCP.modern { try $1.answerCall($0, "secret") }(request, connection)
    }

    @Test("A refused request is signed anew and sent once more")
    func signIn() async throws {
        try await ScriptedMCP.run(Self.guarded) { address, server in
            let tokens = Tokens(["old", "good"])
            try await address.with(signIn: tokens) { client in
                let result = try await client.call("tool")
                #expect(result.parts == [.text("secret")])
            }
            let challenge = ResourceChallenge(.signIn, metadata: "https://a.example/m", scopes: ["one", "two"])
            #expect(tokens.asked == [challenge])
            let sent = server.record.requests.map { $0.headers["Authorization"] }
            #expect(sent == ["Bearer old", "Bearer good", "Bearer good"])
        }
    }

    @Test("A call is not late because a person takes long to sign in, and only the call waits")
    func patience() async throws {
        let person = Promise<Void>()
        let script: ScriptedMCP.Script = { request, connection in
            let isGuarded = request.arguments?["guarded"] == true
            if isGuarded, request.http.headers["Authorization"] != "Bearer good" { return try connection.answer(401) }
            let isSilent = request.arguments?["silent"] == true
            if isSilent { try connection.stall() }
            try ScriptedMCP.modern { try $1.answerCall($0, "done") }(request, connection)
        }
        var limits = MCPClient.Limits()
        limits.call = RPCTimeLimit(.milliseconds(200))
        try await ScriptedMCP.run(script) { address, _ in
            let tokens = Tokens(["old", "good"], person: person)
            try await address.with(limits: limits, signIn: tokens) { client in
                async let waiting = client.call("tool", ["guarded": true])
                // Its time is over when this one is late.
                let error = await #expect(throws: MCPError.self) { try await client.call("tool", ["silent": true]) }
                #expect(error?.kind == .timedOut)
                person.settle(())
                let result = try await waiting
                #expect(result.parts == [.text("done")])
            }
        }
    }

    @Test(
        "Without a credential that is accepted the request is denied, and no other way is tried",
        arguments: [true, false])
    func denied(asks: Bool) async throws {
        try await ScriptedMCP.run(Self.guarded) { address, server in
            let tokens = Tokens(["a", "b", "c"])
            let error = await #expect(throws: MCPError.self) {
                try await address.with(signIn: asks ? tokens : nil) { try await $0.server() }
            }
            #expect(error?.kind == .denied && error?.exit == .denied)
            #expect(error?.message.contains("401 Unauthorized") == true)
            #expect(error?.message.contains("who are you") == true)
            #expect(server.record.requests.count == (asks ? 2 : 1) && tokens.asked.count == (asks ? 1 : 0))
        }
    }

    @Test("More scopes are asked for, and a plain refusal is final")
    func scopes() async throws {
        let script = ScriptedMCP.modern { request, connection in
            let isPlain = request.arguments?["plain"] == true
            if request.http.headers["Authorization"] == "Bearer more" {
                return try connection.answerCall(request, "done")
            }
            let challenge: HTTPHeaders = [
                "WWW-Authenticate": #"Bearer error="insufficient_scope", scope="write""#
            ]
            try connection.answer(403, isPlain ? [:] : challenge, "not you")
        }
        try await ScriptedMCP.run(script) { address, _ in
            let tokens = Tokens(["less", "more"])
            try await address.with(signIn: tokens) { client in
                let error = await #expect(throws: MCPError.self) { try await client.call("tool", ["plain": true]) }
                #expect(error?.kind == .denied && tokens.asked.isEmpty)
                let result = try await client.call("tool")
                #expect(result.parts == [.text("done")])
            }
            #expect(tokens.asked == [ResourceChallenge(.moreScopes, scopes: ["write"], error: "insufficient_scope")])
        }
    }

    // MARK: Redirects

    @Test("A redirect leads nothing to another origin", arguments: [301, 302, 303, 307, 308])
    func elsewhere(status: Int) async throws {
        try await ScriptedMCP.run { request, connection in
            try connection.answerCall(request, "stolen")
        } during: { other, thief in
            try await ScriptedMCP.run { _, connection in
                try connection.answer(status, ["Location": other.url.text])
            } during: { address, _ in
                var address = address
                address.headers = ["Authorization": "Bearer own"]
                let error = await #expect(throws: MCPError.self) {
                    try await address.with(signIn: Tokens(["good"])) { try await $0.server() }
                }
                #expect(error?.message.contains(other.url.server) == true)
            }
            #expect(thief.record.connections.isEmpty)
        }
    }

    @Test("A redirect within the origin is followed if the request stays what it is", arguments: [301, 307, 308])
    func withinOrigin(status: Int) async throws {
        let modern = ScriptedMCP.modern { try $1.answerCall($0, "done") }
        try await ScriptedMCP.run { request, connection in
            if request.http.target == "/mcp" { return try connection.answer(status, ["Location": "/mcp/"]) }
            try modern(request, connection)
        } during: { address, server in
            let tokens = Tokens(["good"])
            guard status != 301 else {
                await #expect(throws: MCPError.self) {
                    try await address.with(signIn: tokens) { try await $0.server() }
                }
                return
            }
            try await address.with(signIn: tokens) { client in
                let result = try await client.call("tool")
                #expect(result.parts == [.text("done")])
            }
            #expect(server.record.requests.allSatisfy { $0.headers["Authorization"] == "Bearer good" })
        }
    }

    @Test("Redirects that go round are left")
    func circle() async throws {
        try await ScriptedMCP.run { _, connection in
            try connection.answer(307, ["Location": "/mcp"])
        } during: { address, _ in
            let error = await #expect(throws: MCPError.self) { try await address.with { try await $0.server() } }
            #expect(error?.message.contains("more than 5 times") == true)
        }
    }
}
