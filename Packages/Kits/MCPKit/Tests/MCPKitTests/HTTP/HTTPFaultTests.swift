import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import RPCKit
import Synchronization
import Testing

@testable import MCPKit

@Suite("Servers over HTTP that fail", .timeLimit(.minutes(2)))
struct HTTPFaultTests {
    // MARK: Answers

    @Test("What is no answer fails its call with the reason, and only that")
    func badAnswers() async throws {
        var limits = MCPHTTPLimits()
        limits.message = 32 << 10
        let script = ScriptedMCP.modern { request, connection in
            switch request.arguments?["case"]?.string {
            case "page": try connection.answer(200, ["Content-Type": "text/html"], "<html>hello</html>")
            case "accepted": try connection.answer(202)
            case "text": try connection.answer(200, ["Content-Type": "application/json"], "no JSON")
            case "other":
                try connection.answer(
                    200, ["Content-Type": "application/json"], #"{"jsonrpc":"2.0","id":777,"result":{}}"#)
            case "huge":
                try connection.answer(request, #"{"text":"\#(String(repeating: "x", count: 40 << 10))"}"#)
            case "hugeEvent":
                try connection.beginEvents()
                try connection.send("data: ")
                try connection.sendEndlessly(Array(repeating: UInt8(ascii: "x"), count: 4096))
            case "endless":
                try connection.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
                try connection.sendEndlessly(Array(repeating: UInt8(ascii: " "), count: 4096))
            case "error": try connection.answer(500, ["Content-Type": "text/plain"], "out of\n order")
            case "rejected": try connection.refuse(request, 400, -32602, "bad input")
            case "unknown": try connection.refuse(request, 404, -32601, "no such method")
            case "withoutID":
                try connection.answer(
                    400, ["Content-Type": "application/json"],
                    #"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"early"}}"#)
            case "twice":
                try connection.beginEvents()
                try connection.send("data: \(request.response(ScriptedConnection.result("first")))\n\n")
                try connection.send("data: \(request.response(ScriptedConnection.result("second")))\n\n")
                throw ScriptError.stopped
            default: try connection.answerCall(request, "fine")
            }
        }
        try await ScriptedMCP.run(limits: limits, script) { address, _ in
            let cases: [(String, MCPError.Kind, String)] = [
                ("page", .malformed, "text/html"), ("accepted", .malformed, "202"), ("text", .malformed, "no answer"),
                ("other", .malformed, "no answer"), ("huge", .limit, "32768"), ("hugeEvent", .limit, "limit"),
                ("endless", .limit, "32768"), ("error", .refused, "500 Internal Server Error: out of order"),
                ("rejected", .refused, "bad input"), ("unknown", .refused, "no such method"),
                ("withoutID", .refused, "early"),
            ]
            try await address.with { client in
                for (name, kind, words) in cases {
                    let error = await #expect(throws: MCPError.self) {
                        try await client.call("tool", ["case": .string(name)])
                    }
                    #expect(error?.kind == kind && error?.message.contains(words) == true, "\(name): \(error)")
                    let next = try await client.call("tool")
                    #expect(next.parts == [.text("fine")])
                }
                let twice = try await client.call("tool", ["case": "twice"])
                #expect(twice.parts == [.text("first")])
            }
        }
    }

    @Test("An answer that is cut anywhere fails in the modern era, where nothing is resumed")
    func cutModern() async throws {
        let script = ScriptedMCP.modern { request, connection in
            let text = "id: 1\ndata: \(request.response(ScriptedConnection.result("whole")))\n\n"
            try connection.beginEvents()
            try connection.send(Array(text.utf8.dropLast(request.arguments?["missing"]?.int ?? 0)))
            throw ScriptError.stopped
        }
        try await ScriptedMCP.run(script) { address, _ in
            try await address.with { client in
                for missing in 1...100 {
                    let error = await #expect(throws: MCPError.self) {
                        try await client.call("tool", ["missing": .int(missing)])
                    }
                    #expect(error?.kind == .closed, "\(missing): \(error)")
                }
                let whole = try await client.call("tool")
                #expect(whole.parts == [.text("whole")])
            }
        }
    }

    @Test("An answer that is cut anywhere is resumed in the legacy era, from the last event that has come")
    func cutLegacy() async throws {
        var limits = MCPHTTPLimits()
        // The test would end late if the wait of the server did not count.
        limits.wait = .seconds(600)
        let first = "retry: 1\nid: a-1\ndata:\n\n"
        let second = #"id: a-2\#ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}}\#n\#n"#
        let waiting = Mutex<[Int: String]>([:])
        let legacy = ScriptedMCP.legacy { request, connection in
            let place = request.arguments?["at"]?.int ?? 0
            let text = first + second + "id: a-3\ndata: \(request.response(ScriptedConnection.result("\(place)")))\n\n"
            waiting.withLock { $0[0] = text }
            try connection.beginEvents()
            try connection.send(Array(text.utf8.prefix(place)))
            throw ScriptError.stopped
        }
        let script: ScriptedMCP.Script = { request, connection in
            guard request.method == "GET", let last = request.http.headers["Last-Event-ID"] else {
                return try legacy(request, connection)
            }
            let text = waiting.withLock { $0[0] ?? "" }
            let seen = last == "a-1" ? first.utf8.count : first.utf8.count + second.utf8.count
            try connection.beginEvents()
            try connection.send("id: again-\(last)\ndata:\n\n")
            try connection.send(Array(text.utf8.dropFirst(seen)))
            throw ScriptError.stopped
        }
        let handler = TestHandler()
        try await ScriptedMCP.run(limits: limits, script) { address, server in
            try await address.with(handler: handler) { client in
                for place in 0..<190 {
                    if place < first.utf8.count {
                        let error = await #expect(throws: MCPError.self) {
                            try await client.call("tool", ["at": .int(place)])
                        }
                        #expect(error?.kind == .closed, "\(place): \(error)")
                    } else {
                        let result = try await client.call("tool", ["at": .int(place)])
                        #expect(result.parts == [.text("\(place)")])
                    }
                }
            }
            // No event came twice, and none was lost.
            #expect(handler.logs.count == 190 - first.utf8.count && handler.problems.isEmpty)
            let resumed = server.record.requests.filter { $0.headers["Last-Event-ID"] != nil }
            #expect(resumed.allSatisfy { $0.headers["MCP-Session-Id"] == "s-1" })
        }
    }

    // MARK: Silence

    @Test("A call that is not answered ends in time, and the server is told in the way of its era")
    func silence() async throws {
        var limits = MCPClient.Limits()
        limits.call = RPCTimeLimit(.milliseconds(150))
        try await ScriptedMCP.run(ScriptedMCP.modern { _, connection in try connection.stall() }) { address, server in
            try await address.with(limits: limits) { client in
                // On a busy machine the time may be over before the request is sent.
                repeat {
                    let error = await #expect(throws: MCPError.self) { try await client.call("tool") }
                    #expect(error?.kind == .timedOut)
                } while !server.record.requests.contains { $0.text.contains("tools/call") }
                try await server.until { $0.connections.contains(where: \.peerLeft) }
            }
            #expect(!server.record.requests.contains { $0.text.contains("cancelled") })
        }
        try await ScriptedMCP.run(ScriptedMCP.legacy { _, connection in try connection.stall() }) { address, server in
            try await address.with(limits: limits) { client in
                await #expect(throws: MCPError.self) { try await client.call("tool") }
                try await server.until { record in
                    record.requests.contains { $0.text.contains("requestId") }
                }
            }
        }
    }

    @Test("A server that never answers is given up in time")
    func neverAnswers() async throws {
        var limits = MCPClient.Limits()
        (limits.start, limits.probe) = (.milliseconds(200), .milliseconds(50))
        try await ScriptedMCP.run { _, connection in
            try connection.stall()
        } during: { address, _ in
            let error = await #expect(throws: MCPError.self) {
                try await address.with(limits: limits) { try await $0.server() }
            }
            #expect(error?.kind == .timedOut)
        }
    }

    // MARK: Sessions

    @Test("A session that the server has forgotten is begun again once, and the calls are repeated")
    func forgotten() async throws {
        let sessions = Mutex(0)
        let script: ScriptedMCP.Script = { request, connection in
            if request.method == "initialize" { sessions.withLock { $0 += 1 } }
            let current = "s-\(sessions.withLock { $0 })"
            let expired = request.http.headers["MCP-Session-Id"] == "s-1" && request.method == "tools/call"
            if expired || request.http.headers["MCP-Session-Id"].map({ $0 != current }) == true {
                return try connection.answer(
                    404, ["Content-Type": "application/json"],
                    #"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}"#)
            }
            try ScriptedMCP.legacy(session: current) { try $1.answerCall($0, current) }(request, connection)
        }
        let handler = TestHandler()
        try await ScriptedMCP.run(script) { address, server in
            try await address.with(handler: handler) { client in
                try await withThrowingTaskGroup(of: MCPResult.self) { group in
                    for _ in 0..<10 { group.addTask { try await client.call("tool") } }
                    for try await result in group { #expect(result.parts == [.text("s-2")]) }
                }
            }
            #expect(sessions.withLock { $0 } == 2 && handler.changes == [.tools])
            let last = try #require(server.record.requests.last { $0.method == "DELETE" })
            #expect(last.headers["MCP-Session-Id"] == "s-2")
        }
    }

    @Test("A server that forgets each session at once is not asked for ever")
    func alwaysForgotten() async throws {
        try await ScriptedMCP.run(ScriptedMCP.legacy { _, connection in try connection.answer(404) }) { address, _ in
            try await address.with { client in
                let error = await #expect(throws: MCPError.self) { try await client.call("tool") }
                #expect(error?.message.contains("session") == true)
            }
        }
    }

    @Test("A session that cannot be begun again ends the client")
    func cannotBegin() async throws {
        let begun = Mutex(false)
        let legacy = ScriptedMCP.legacy { _, connection in try connection.answer(404) }
        let script: ScriptedMCP.Script = { request, connection in
            if request.method == "initialize", begun.withLock({ exchange(&$0, with: true) }) {
                return try connection.answer(503, [:], "later")
            }
            try legacy(request, connection)
        }
        try await ScriptedMCP.run(script) { address, _ in
            try await address.with { client in
                let error = await #expect(throws: MCPError.self) { try await client.call("tool") }
                #expect(error?.message.contains("503") == true)
                await #expect(throws: MCPError.self) { try await client.call("tool") }
            }
        }
    }

    // MARK: Eras

    @Test("A server that knows nothing of MCP is told by its own words")
    func noServer() async throws {
        try await ScriptedMCP.run { _, connection in
            try connection.answer(404, ["Content-Type": "text/plain"], "nothing here")
        } during: { address, server in
            let error = await #expect(throws: MCPError.self) { try await address.with { try await $0.server() } }
            #expect(error?.kind == .refused && error?.message.contains("404 Not Found: nothing here") == true)
            #expect(server.record.requests.map(\.method).sorted() == ["GET", "POST", "POST"])
        }
    }

    @Test("A server that was known to be of the legacy era may have become modern")
    func becameModern() async throws {
        let modern = ScriptedMCP.modern { try $1.answerCall($0, "done") }
        try await ScriptedMCP.run { request, connection in
            guard request.method == "initialize" else { return try modern(request, connection) }
            try connection.refuse(request, 400, -32022, "no handshake")
        } during: { address, _ in
            try await address.with(knowing: .november2025) { client in
                let info = try await client.server()
                #expect(info.version == .july2026)
            }
        }
    }

    @Test("A server that speaks another modern revision only is not asked for a handshake")
    func otherRevision() async throws {
        try await ScriptedMCP.run { request, connection in
            let error = #"{"code":-32022,"message":"no","data":{"supported":["2027-01-01"]}}"#
            try connection.answer(
                400, ["Content-Type": "application/json"],
                #"{"jsonrpc":"2.0","id":\#(request.json["id"] ?? .null),"error":\#(error)}"#)
        } during: { address, server in
            let error = await #expect(throws: MCPError.self) { try await address.with { try await $0.server() } }
            #expect(error?.kind == .unsupported && error?.message.contains("2027-01-01") == true)
            #expect(server.record.requests.count == 1)
        }
    }
}

private func exchange<Value>(_ value: inout Value, with next: Value) -> Value {
    defer { value = next }
    return value
}
