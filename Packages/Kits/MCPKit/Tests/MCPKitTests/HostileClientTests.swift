import Capabilities
import HTTPServer
import JSON
import MCPTesting
import RPCKit
import Testing

@testable import MCPKit

@Suite("Clients that break the protocol", .timeLimit(.minutes(2)))
struct HostileClientTests {
    private func with<Value: Sendable>(
        _ service: EverythingService = EverythingService(), limits: MCPServer.Limits = MCPServer.Limits(),
        _ body: @escaping @Sendable (LineClient, MCPServer) async throws -> Value
    ) async throws -> Value {
        let server = MCPServer(service, limits: limits)
        return try await TestServers.paired(server) { channel in try await body(LineClient(channel), server) }
    }

    private static let add: JSON = ["name": "add", "arguments": ["a": 1, "b": 2]]

    @Test("Rubbish is answered by an error, and the next request as usual")
    func rubbish() async throws {
        try await with { client, _ in
            for (text, code) in [
                ("hello", -32700), ("{\"jsonrpc\":", -32700), ("\u{0}\u{1}", -32700), ("[]", -32600), ("5", -32600),
                ("{\"id\":1}", -32600), ("{\"id\":{},\"method\":\"ping\"}", -32600),
                (String(repeating: "[", count: 100_000), -32700),
            ] {
                try await client.write(text)
                #expect(try await client.line()["error"]?["code"]?.int == code)
            }
            try await client.write("\n\r\n")
            #expect(try await client.ask(1, "ping") == ["jsonrpc": "2.0", "id": 1, "result": [:]])
        }
    }

    @Test("A line of 200 MB is refused without being kept, and the next request is answered")
    func longLine() async throws {
        try await with { client, _ in
            try await client.write(Array(#"{"jsonrpc":"2.0","id":"long","method":"tools/list","params":{"x":""#.utf8))
            let piece = [UInt8](repeating: 0x78, count: 1 << 20)
            for _ in 0..<200 { try await client.write(piece) }
            try await client.write("\"}}")
            let answer = try await client.line()
            #expect(answer["id"] == "long" && answer["error"]?["code"] == -32600)
            #expect(try await client.ask(0, "ping")["id"] == 0)
        }
    }

    @Test("Nothing but a ping works before the handshake, which happens once, in a revision that is known")
    func handshake() async throws {
        try await with { client, _ in
            #expect(try await client.ask(1, "tools/list")["error"]?["code"] == -32602)
            #expect(try await client.ask(2, "initialize")["error"]?["code"] == -32602)
            #expect(try await client.ask(3, "ping")["result"] == [:])
            let opened = try await client.open("1999-01-01")
            #expect(opened["result"]?["protocolVersion"] == "2025-11-25")
            #expect(try await client.open()["error"]?["code"] == -32600)
            #expect(try await client.ask(4, "tools/call", Self.add)["result"]?["structuredContent"] == ["result": 3])
            #expect(try await client.ask(5, "tools/call", ["name": 5])["error"]?["code"] == -32602)
            #expect(
                try await client.ask(6, "tools/call", ["name": "add", "arguments": []])["error"]?["code"] == -32602)
            #expect(try await client.ask(7, "tools/list", [1])["error"]?["code"] == -32602)
            #expect(try await client.ask(8, "logging/setLevel", ["level": "loud"])["error"]?["code"] == -32602)
        }
        // A client that sends everything at once does not wait for the answer to the handshake.
        try await with { client, _ in
            try await client.send(1, "initialize", ["protocolVersion": "2024-11-05"])
            try await client.send(nil, "notifications/initialized")
            try await client.send(2, "tools/call", Self.add)
            let answers = [try await client.line(), try await client.line()]
            let result = answers.first { $0["id"] == 2 }?["result"]
            #expect(result?["content"]?[0]?["text"] == "3" && result?["structuredContent"] == nil)
        }
    }

    @Test("A request of the modern era says everything, or is told what it lacks")
    func envelope() async throws {
        try await with { client, _ in
            let discovered = try await client.ask(1, "server/discover", .modern())["result"]
            #expect(discovered?["supportedVersions"] == ["2026-07-28"] && discovered?["resultType"] == "complete")
            #expect(discovered?["ttlMs"] == 0 && discovered?["cacheScope"] == "private")
            #expect(try await client.ask(2, "server/discover")["error"]?["code"] == -32602)
            let later = try await client.ask(3, "tools/list", .modern(version: "2027-01-01"))["error"]
            #expect(later?["code"] == -32022 && later?["data"]?["requested"] == "2027-01-01")
            #expect(later?["data"]?["supported"]?.array?.contains("2026-07-28") == true)
            let key = "io.modelcontextprotocol/protocolVersion"
            let half: JSON = ["_meta": .object([key: "2026-07-28"])]
            #expect(try await client.ask(4, "tools/list", half)["error"]?["code"] == -32602)
            #expect(try await client.ask(5, "ping", .modern())["error"]?["code"] == -32601)
            #expect(try await client.ask(6, "logging/setLevel", .modern())["error"]?["code"] == -32601)
            // The same connection may begin a handshake after all.
            #expect(try await client.open()["result"]?["protocolVersion"] == "2025-11-25")
            let listed = try await client.ask(7, "tools/list")["result"]
            #expect(listed?["tools"]?.array?.count == 15 && listed?["resultType"] == nil)
        }
    }

    @Test("An id that is used again while it is answered does nothing twice, and a flood is refused")
    func flood() async throws {
        let service = EverythingService()
        try await with(service) { client, _ in
            _ = try await client.open()
            try await client.send(0, "tools/call", ["name": "wait"])
            try await client.send(0, "tools/call", ["name": "wait"])
            for id in 1..<150 { try await client.send(.int(id), "tools/call", ["name": "wait"]) }
            for _ in 0..<50 {
                #expect(try await client.line()["error"]?["message"]?.string?.contains("100 requests") == true)
            }
            try await client.send(nil, "notifications/cancelled", ["requestId": 0])
            try await service.wait { $0.cancelled == 1 }
            #expect(try await client.ask("next", "ping")["id"] == "next")
        }
        #expect(service.cancelled == 100)
    }

    @Test("A call with questions goes on once for each answer, and for nobody who guesses")
    func requestState() async throws {
        let service = EverythingService()
        try await with(service) { client, server in
            let params: JSONObject = ["name": "choose", "arguments": [:]]
            func go(_ id: JSON, _ more: JSONObject, name: JSON = "choose") async throws -> JSON {
                var all = params
                all["name"] = name
                for (key, value) in more { all[key] = value }
                return try await client.ask(id, "tools/call", .modern(all))
            }
            let first = try await go(1, [:])["result"]
            #expect(first?["resultType"] == "input_required")
            let state = try #require(first?["requestState"])
            let key = try #require(first?["inputRequests"]?.object?.keys.first)
            #expect(first?["inputRequests"]?[key]?["method"] == "elicitation/create")
            for guess in ["", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 5] as [JSON] {
                #expect(try await go(2, ["requestState": guess])["error"]?["code"] == -32602)
            }
            #expect(try await go(3, ["requestState": state], name: "add")["error"]?["code"] == -32602)
            // Without the answer, it is asked again; with another state.
            let again = try await go(4, ["requestState": state])["result"]
            let nextState = try #require(again?["requestState"])
            #expect(nextState != state && again?["inputRequests"]?[key] != nil)
            let red: JSON = .object([key: ["action": "accept", "content": ["color": "red"]]])
            let more = try await go(5, ["requestState": nextState, "inputResponses": red])["result"]
            let last = try #require(more?["requestState"])
            let secondKey = try #require(more?["inputRequests"]?.object?.keys.first)
            for used in [state, nextState] {
                #expect(
                    try await go(6, ["requestState": used, "inputResponses": red])["error"]?["code"] == -32602)
            }
            let two: JSON = .object([secondKey: ["action": "accept", "content": ["count": 2]]])
            let result = try await go(7, ["requestState": last, "inputResponses": two])["result"]
            #expect(result?["content"]?[0]?["text"] == "red 2" && result?["resultType"] == "complete")
            // An answer that cannot be read fails the call.
            let third = try await go(8, [:])["result"]
            let rubbish: JSON = .object([secondKey: 5, "q1": ["action": "shrug"]])
            let failed = try await go(
                9, ["requestState": third?["requestState"] ?? nil, "inputResponses": rubbish])["error"]
            #expect(failed?["code"] == -32602 && server.suspended.count == 0)
        }
        #expect(service.runs == 2)
    }

    @Test("What a client does not offer is not asked, and it is told what it lacks")
    func capabilities() async throws {
        try await with { client, _ in
            let refused = try await client.ask(
                1, "tools/call", .modern(["name": "choose"], capabilities: [:]))["error"]
            #expect(refused?["code"] == -32021 && refused?["data"]?["requiredCapabilities"]?["elicitation"] != nil)
            _ = try await client.open()
            let failed = try await client.ask(2, "tools/call", ["name": "think"])["result"]
            #expect(failed?["isError"] == true)
        }
    }

    @Test("Only so many calls wait for answers, and one that nobody answers fails")
    func suspension() async throws {
        var limits = MCPServer.Limits()
        limits.suspended = 2
        try await with(limits: limits) { client, server in
            for id in 0..<2 {
                let asked = try await client.ask(.int(id), "tools/call", .modern(["name": "choose"]))["result"]
                #expect(asked?["resultType"] == "input_required")
            }
            let third = try await client.ask(2, "tools/call", .modern(["name": "choose"]))["result"]
            #expect(third?["isError"] == true && server.suspended.count == 2)
        }
        limits.patience = .milliseconds(50)
        let service = EverythingService()
        try await with(service, limits: limits) { client, _ in
            let asked = try await client.ask(0, "tools/call", .modern(["name": "choose"]))["result"]
            #expect(asked?["requestState"] != nil)
            try await service.wait { $0.finished == 1 }
        }
    }

    @Test("A state is good for a time, and for the same request of the same client")
    func states() {
        let calls = SuspendedCalls(limit: 2, patience: .seconds(300))
        let (owner, other) = (TaskOwner(), TaskOwner())
        let call = ServerCall(.byResults(within: .seconds(300)))
        func claim(_ owner: TaskOwner, _ name: String?, _ params: JSONObject) -> SuspendedCalls.Claim {
            SuspendedCalls.Claim(owner, name.map { Principal($0) }, "tools/call", params)
        }
        let mine = claim(owner, "a", ["name": "x", "_meta": ["progressToken": 1]])
        let state = calls.keep(call, mine) ?? ""
        for wrong in [
            claim(other, "a", ["name": "x"]), claim(owner, "b", ["name": "x"]), claim(owner, nil, ["name": "x"]),
        ] { #expect(calls.take(state, wrong) == nil) }
        #expect(calls.take(state, claim(owner, "a", ["name": "y"])) == nil)
        #expect(calls.take(state, mine, now: .now + .seconds(301)) == nil)
        #expect(calls.take(state, claim(owner, "a", ["name": "x", "requestState": "s"])) === call)
        #expect(calls.take(state, mine) == nil)
        #expect(calls.keep(call, mine) != nil && calls.keep(call, mine) != nil && calls.keep(call, mine) == nil)
        // Those whose time is over make room.
        #expect(calls.keep(call, mine, now: .now + .seconds(301)) != nil && calls.count == 1)
        calls.drop(of: owner)
        #expect(calls.count == 0)
    }

    @Test("A call that is cancelled while it starts ends as cancelled")
    func cancelledEarly() async throws {
        let (owner, call) = (TaskOwner(), ServerCall(.byResults(within: .seconds(300))))
        call.cancel()
        #expect(call.start(in: owner) { try await Promise<JSON>().value() })
        await call.end()
        #expect(throws: CancellationError.self) { try call.result?.get() }
    }

    @Test("Log messages and progress come only to who asked for them")
    func quiet() async throws {
        try await with { client, _ in
            let shout: JSONObject = ["name": "shout", "arguments": ["text": "loud"]]
            #expect(try await client.ask(1, "tools/call", .modern(shout))["id"] == 1)
            let level: JSONObject = ["io.modelcontextprotocol/logLevel": "error"]
            #expect(try await client.ask(2, "tools/call", .modern(shout, level))["id"] == 2)
            let debug: JSONObject = ["io.modelcontextprotocol/logLevel": "debug"]
            #expect(try await client.ask(3, "tools/call", .modern(shout, debug))["params"]?["level"] == "debug")
            #expect(try await client.line()["params"]?["data"] == "loud")
            #expect(try await client.line()["id"] == 3)
            let wrong: JSONObject = ["io.modelcontextprotocol/logLevel": "loud"]
            #expect(try await client.ask(4, "tools/call", .modern(shout, wrong))["error"]?["code"] == -32602)
            let count: JSONObject = ["name": "count", "arguments": ["to": 2]]
            #expect(try await client.ask(5, "tools/call", .modern(count))["id"] == 5)
            let told = try await client.ask(6, "tools/call", .modern(count, ["progressToken": "t"]))
            #expect(told["params"]?["progressToken"] == "t" && told["params"]?["progress"]?.double == 1)
        }
    }

    @Test("A subscription acknowledges what it tells, tags it, and ends when it is cancelled")
    func subscription() async throws {
        let service = EverythingService()
        try await with(service) { client, _ in
            let wanted: JSON = [
                "toolsListChanged": true, "resourceSubscriptions": ["counter://value", "secret://value"],
            ]
            let key = "io.modelcontextprotocol/subscriptionId"
            let first = try await client.ask("s", "subscriptions/listen", .modern(["notifications": wanted]))
            #expect(first["method"] == "notifications/subscriptions/acknowledged")
            #expect(
                first["params"]?["notifications"]
                    == ["toolsListChanged": true, "resourceSubscriptions": ["counter://value"]])
            while service.changes.count < 2 {
                try Task.checkCancellation()
                await Task.yield()
            }
            service.changes.announce(.prompts)
            service.changes.announce(.resource("secret://value"))
            service.changes.announce(.resource("counter://value"))
            let told = try await client.line()
            #expect(told["method"] == "notifications/resources/updated" && told["params"]?["_meta"]?[key] == "s")
            try await client.send(nil, "notifications/cancelled", ["requestId": "s"])
            while service.changes.count > 1 {
                try Task.checkCancellation()
                await Task.yield()
            }
            service.changes.announce(.tools)
            #expect(try await client.ask(2, "server/discover", .modern())["id"] == 2)
        }
    }
}
