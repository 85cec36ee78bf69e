import Capabilities
import HTTPServer
import JSON
import MCPTesting
import RPCKit
import Testing

@testable import MCPKit

@Suite("Our server over HTTP", .timeLimit(.minutes(2)))
struct HTTPServingTests {
    private func with(
        _ service: EverythingService = EverythingService(), limits: MCPHTTPServer.Limits = MCPHTTPServer.Limits(),
        _ body: @escaping @Sendable (Int, MCPHTTPServer) async throws -> Void
    ) async throws {
        let http = MCPHTTPServer(MCPServer(service), limits: limits)
        try await TestServers.overHTTP(http) { port in try await body(port, http) }
        // Whatever a client did, nothing is left of it.
        #expect(http.owner.count == 0 && http.sessionCount == 0)
        #expect(service.changes.count == 0 && http.server.suspended.count == 0)
    }

    private static let ping: JSON = ["jsonrpc": "2.0", "id": 1, "method": "ping"]

    private static func call(_ tool: String, _ arguments: JSON = [:], id: JSON = 1, token: JSON? = nil) -> JSON {
        var params: JSONObject = ["name": .string(tool), "arguments": arguments]
        params["_meta"] = token.map { ["progressToken": $0] }
        return ["jsonrpc": "2.0", "id": id, "method": "tools/call", "params": .object(params)]
    }

    // MARK: Before anything is read

    @Test("Web pages, foreign names and strangers are refused")
    func strangers() async throws {
        try await with { port, _ in
            #expect(try await RawHTTP.ask(port, "POST", Self.ping, ["Authorization": ""]).status == 401)
            #expect(try await RawHTTP.ask(port, "POST", Self.ping, ["Authorization": "Bearer guess"]).status == 401)
            #expect(try await RawHTTP.ask(port, "POST", Self.ping, ["Origin": "https://evil.example"]).status == 403)
            // A name that leads here is the browser's only if its owner says so.
            for host in ["evil.example", "evil.example:\(port)", "127.0.0.1.evil.example"] {
                let answer = try await RawHTTP.ask(
                    port, "POST", Self.ping, ["Host": host, "Origin": "http://\(host)"])
                #expect(answer.status == 421)
            }
            #expect(try await RawHTTP.ask(port, "GET", nil, ["Origin": "null"]).status == 403)
            #expect(try await RawHTTP.ask(port, "DELETE", nil, ["Host": "evil.example"]).status == 421)
        }
    }

    @Test("Headers and bodies that are wrong have the status that says so")
    func headers() async throws {
        try await with { port, _ in
            for accept in ["", "application/json", "text/event-stream", "text/html"] {
                #expect(try await RawHTTP.ask(port, "POST", Self.ping, ["Accept": accept]).status == 406)
            }
            #expect(try await RawHTTP.ask(port, "POST", Self.ping, ["Content-Type": "text/plain"]).status == 415)
            #expect(try await RawHTTP.ask(port, "GET", nil, ["Accept": "application/json"]).status == 406)
            #expect(try await RawHTTP.ask(port, "PUT", Self.ping).status == 405)
            #expect(
                try await RawHTTP.ask(port, "POST", Self.ping, ["Content-Length": "16777217"]).status == 413)
            for (body, code) in [("{", -32700), ("[]", -32600), ("5", -32600), ("{}", -32600)] {
                let client = try RawHTTP(port: port)
                try await client.send(RawHTTP.request("POST", body, [:]))
                let answer = try await client.receive()
                #expect(try answer.status == 400 && answer.json["error"]?["code"]?.int == code)
                client.close()
            }
        }
    }

    // MARK: Sessions

    @Test("A session is for its client only, until it ends")
    func sessions() async throws {
        try await with { port, http in
            #expect(try await RawHTTP.ask(port, "POST", Self.ping).status == 400)
            let session = try await RawHTTP.open(port)
            let other = try await RawHTTP.open(port)
            #expect(session != other && session.utf8.count >= 32)
            let mine: KeyValuePairs = ["Mcp-Session-Id": session]
            #expect(try await RawHTTP.ask(port, "POST", Self.ping, mine).json["result"] == [:])
            let stolen: KeyValuePairs = ["Mcp-Session-Id": session, "Authorization": "Bearer other"]
            #expect(try await RawHTTP.ask(port, "POST", Self.ping, stolen).status == 404)
            #expect(try await RawHTTP.ask(port, "GET", nil, stolen).status == 404)
            #expect(try await RawHTTP.ask(port, "DELETE", nil, stolen).status == 404)
            #expect(try await RawHTTP.ask(port, "POST", Self.ping, ["Mcp-Session-Id": "guess"]).status == 404)
            let wrong: KeyValuePairs = ["Mcp-Session-Id": session, "MCP-Protocol-Version": "1999-01-01"]
            #expect(try await RawHTTP.ask(port, "POST", Self.ping, wrong).status == 400)
            #expect(try await RawHTTP.ask(port, "DELETE", nil, mine).status == 204)
            #expect(try await RawHTTP.ask(port, "POST", Self.ping, mine).status == 404)
            #expect(http.sessionCount == 1)
            let refused: JSON = ["jsonrpc": "2.0", "id": 1, "method": "initialize", "params": [:]]
            let answer = try await RawHTTP.ask(port, "POST", refused)
            #expect(try answer.json["error"]?["code"] == -32602 && !answer.contains("Mcp-Session-Id"))
            #expect(http.sessionCount == 1)
        }
    }

    @Test("There are only so many sessions, and those that nobody uses end")
    func bounds() async throws {
        var limits = MCPHTTPServer.Limits()
        limits.sessions = 2
        try await with(limits: limits) { port, http in
            let first = try await RawHTTP.open(port)
            let second = try await RawHTTP.open(port)
            _ = try await RawHTTP.ask(port, "POST", Self.ping, ["Mcp-Session-Id": first])
            _ = try await RawHTTP.open(port)
            #expect(http.sessionCount == 2)
            #expect(try await RawHTTP.ask(port, "POST", Self.ping, ["Mcp-Session-Id": second]).status == 404)
            // One that is read is in use.
            let reader = try RawHTTP(port: port)
            try await reader.send(RawHTTP.request("GET", "", ["Mcp-Session-Id": first]))
            _ = try await reader.receive(until: "text/event-stream")
            http.sweep(at: .now + .seconds(1_000))
            #expect(http.sessionCount == 2)
            http.sweep(at: .now + .seconds(1_801))
            #expect(http.sessionCount == 1)
            reader.close()
        }
    }

    @Test("A batch is answered whole, in the one revision that has them")
    func batches() async throws {
        try await with { port, _ in
            let old = try await RawHTTP.open(port, version: "2025-03-26")
            let new = try await RawHTTP.open(port)
            let batch: JSON = [
                Self.ping, ["jsonrpc": "2.0", "method": "notifications/other"],
                Self.call("add", ["a": 1, "b": 1], id: 2),
            ]
            let answer = try await RawHTTP.ask(port, "POST", batch, ["Mcp-Session-Id": old])
            #expect(try answer.status == 200 && answer.messages.count == 2)
            #expect(try await RawHTTP.ask(port, "POST", batch, ["Mcp-Session-Id": new]).status == 400)
            let twice: JSON = [Self.ping, Self.ping]
            #expect(try await RawHTTP.ask(port, "POST", twice, ["Mcp-Session-Id": old]).status == 400)
            let told: JSON = [["jsonrpc": "2.0", "method": "notifications/other"]]
            #expect(try await RawHTTP.ask(port, "POST", told, ["Mcp-Session-Id": old]).status == 202)
        }
    }

    // MARK: Streams

    @Test("A client that lost its stream gets the rest of it, and a call goes on meanwhile")
    func resumption() async throws {
        let service = EverythingService()
        try await with(service) { port, _ in
            let session = try await RawHTTP.open(port)
            let mine: KeyValuePairs = ["Mcp-Session-Id": session]
            let stream = try RawHTTP(port: port)
            try await stream.send(RawHTTP.request("POST", Self.call("choose", id: "c").text(), mine))
            let begun = try await stream.receive(until: "elicitation/create")
            let first = try #require(begun.eventIDs.first)
            #expect(begun.eventIDs.count == 2)
            stream.close()

            // The question is read again, and answered.
            let again = try RawHTTP(port: port)
            let last: KeyValuePairs = ["Mcp-Session-Id": session, "Last-Event-ID": first]
            try await again.send(RawHTTP.request("GET", "", last))
            let question = try await again.receive(until: "Which color?")
            let id = try #require(try question.messages.first?["id"])
            func answer(_ id: JSON, _ content: JSON) async throws {
                let answer: JSON = [
                    "jsonrpc": "2.0", "id": id, "result": ["action": "accept", "content": content],
                ]
                #expect(try await RawHTTP.ask(port, "POST", answer, mine).status == 202)
            }
            try await answer(id, ["color": "green"])
            let more = try await again.receive(until: "How many?")
            again.close()
            try await answer(try #require(try more.messages.last?["id"]), ["count": 7])

            // After the question comes the result, and then nothing.
            let seen = try #require(more.eventIDs.last)
            let rest = try await RawHTTP.ask(
                port, "GET", nil, ["Mcp-Session-Id": session, "Last-Event-ID": seen])
            #expect(try rest.messages.last?["result"]?["content"]?[0]?["text"] == "green 7")
            let end = try #require(rest.eventIDs.last)
            for place in [end, "9-1", "0-99", "x", "-1-1"] {
                let headers: KeyValuePairs = ["Mcp-Session-Id": session, "Last-Event-ID": place]
                #expect(try await RawHTTP.ask(port, "GET", nil, headers).status == 400)
            }
            // Everything again from the beginning.
            let all = try await RawHTTP.ask(port, "GET", nil, last)
            #expect(try all.messages.count == 3)
        }
        #expect(service.runs == 1)
    }

    @Test("Changes come on the stream of the session, once each, also those of before it was read")
    func changes() async throws {
        let service = EverythingService()
        try await with(service) { port, _ in
            let session = try await RawHTTP.open(port)
            let mine: KeyValuePairs = ["Mcp-Session-Id": session]
            let watch: JSON = [
                "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": ["uri": "counter://value"],
            ]
            #expect(try await RawHTTP.ask(port, "POST", watch, mine).json["result"] == [:])
            for _ in 0..<5_000 { service.changes.announce(.resource("counter://value")) }
            service.changes.announce(.resource("note://1"))
            let stream = try RawHTTP(port: port)
            try await stream.send(RawHTTP.request("GET", "", mine))
            let told = try await stream.receive(until: "notifications/")
            #expect(try told.messages.map { $0["params"]?["uri"] } == ["counter://value"])
            service.changes.announce(.prompts)
            _ = try await stream.receive(until: "notifications/prompts/list_changed")
            // Who comes later takes the stream over.
            let later = try RawHTTP(port: port)
            try await later.send(RawHTTP.request("GET", "", mine))
            _ = try await stream.receive()
            service.changes.announce(.tools)
            _ = try await later.receive(until: "notifications/tools/list_changed")
            for client in [stream, later] { client.close() }
        }
    }

    @Test("A cancelled call is not answered, and its stream ends")
    func cancelled() async throws {
        let service = EverythingService()
        try await with(service) { port, _ in
            let session = try await RawHTTP.open(port)
            let mine: KeyValuePairs = ["Mcp-Session-Id": session]
            let seen = service.news.count
            let stream = try RawHTTP(port: port)
            try await stream.send(RawHTTP.request("POST", Self.call("wait", id: "w").text(), mine))
            try await service.news.wait(beyond: seen)
            #expect(try await RawHTTP.ask(port, "POST", Self.call("wait", id: "w"), mine).status == 400)
            let cancel: JSON = [
                "jsonrpc": "2.0", "method": "notifications/cancelled", "params": ["requestId": "w"],
            ]
            #expect(try await RawHTTP.ask(port, "POST", cancel, mine).status == 202)
            #expect(try await stream.receive().messages.isEmpty)
            stream.close()
        }
        #expect(service.cancelled == 1)
    }

    @Test("The server ends while calls run and streams are read")
    func ending() async throws {
        let service = EverythingService()
        try await with(service) { port, _ in
            let session = try await RawHTTP.open(port)
            let mine: KeyValuePairs = ["Mcp-Session-Id": session]
            for (method, body) in [("GET", ""), ("POST", Self.call("wait").text())] {
                let client = try RawHTTP(port: port)
                try await client.send(RawHTTP.request(method, body, mine))
                _ = try await client.receive(until: "text/event-stream")
            }
            let modern = try RawHTTP(port: port)
            try await modern.send(RawHTTP.modern(port, "tools/call", .modern(["name": "wait"])))
            let asked = try await RawHTTP.askModern(port, "tools/call", .modern(["name": "choose"]))
            #expect(try asked.json["result"]?["resultType"] == "input_required")
            while http(service) < 2 {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        #expect(service.cancelled == 2 && service.finished == 1)
    }

    /// The calls that have begun to wait.
    private func http(_ service: EverythingService) -> Int { service.news.count }
}
