import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("Allowed addresses of connections")
struct ConnectedAddressTests {
    private static let script: ScriptedServer.Script = { connection in
        while true {
            try connection.receiveRequest()
            try connection.answer(200, [:], "hello")
        }
    }

    private func within<Result>(_ hosts: [String], _ body: () async throws -> Result) async rethrows -> Result {
        let grant = Grant(Grant.Layer(.bundle("b"), hosts: .named(hosts)))
        let caller = Caller.person(HeadlessInteraction()).narrowed(by: grant)
        return try await Caller.$current.withValue(caller) { try await body() }
    }

    @Test(
        "Nothing is sent to this machine under another name, even over an existing connection",
        .enabled(if: LoopbackName.other != nil, "/etc/hosts has no other name for 127.0.0.1"), .timeLimit(.minutes(5)))
    func requests() async throws {
        let name = try #require(LoopbackName.other)
        try await ScriptedServer.run(Self.script) { server in
            try await Lab.client { client in
                let request = try Lab.request(server.port, host: name)
                #expect(try await client.send(request).text == "hello")
                for hosts in [[name], ["*"]] {
                    let error = await Lab.failure { _ = try await within(hosts) { try await client.send(request) } }
                    #expect(error?.kind == .notPermitted && error?.mayHaveBeenSent == false, "\(error?.message ?? "")")
                    #expect(error?.message.contains("127.0.0.1:\(server.port), the address of \(name)") == true)
                }
                #expect(server.record.requests.count == 1)
                // Control: the request is sent when its address is allowed.
                let text = try await within([name, "127.0.0.1"]) { try await client.send(request).text }
                #expect(text == "hello")
            }
            // Without an existing connection, not even a first packet is sent.
            let before = server.record.connections.count
            try await Lab.client { client in
                let request = try Lab.request(server.port, host: name)
                let error = await Lab.failure { _ = try await within([name]) { try await client.send(request) } }
                #expect(error?.kind == .notPermitted && error?.message.contains("the address of \(name)") == true)
                #expect(server.record.connections.count == before)
                _ = try await within([name, "127.0.0.1"]) { try await client.send(request) }
                #expect(server.record.connections.count == before + 1)
            }
        }
    }

    @Test("A task without a caller reaches no server, unless the client allows it", .timeLimit(.minutes(5)))
    func nobody() async throws {
        try await ScriptedServer.run(Self.script) { server in
            let client = HTTPClient()
            let request = try Lab.request(server.port)
            let refused = await Lab.failure { _ = try await client.send(request) }
            #expect(refused?.kind == .notPermitted)
            #expect(refused?.message.contains("code without a caller may not connect to") == true)
            let socket = WebSocketRequest(try HTTPURL("http://127.0.0.1:\(server.port)/"))
            let unopened = await Lab.failure { _ = try await WebSocketClient().connect(socket) }
            #expect(unopened?.kind == .notPermitted)
            #expect(server.record.connections.isEmpty)
            // Controls: a caller with full access, and a client that works without callers.
            let person = Caller.person(HeadlessInteraction())
            #expect(try await Caller.$current.withValue(person) { try await client.send(request).text } == "hello")
            await client.close()
            let standalone = HTTPClient(.standalone)
            #expect(try await standalone.send(request).text == "hello")
            await standalone.close()
        }
    }

    @Test(
        "A WebSocket to this machine under another name is not opened",
        .enabled(if: LoopbackName.other != nil, "/etc/hosts has no other name for 127.0.0.1"),
        .timeLimit(.minutes(5)))
    func webSockets() async throws {
        let name = try #require(LoopbackName.other)
        try await ScriptedServer.run(Self.script) { server in
            func connect(_ hosts: [String]) async throws -> HTTPError? {
                let request = WebSocketRequest(try HTTPURL("http://\(name):\(server.port)/"))
                return await Lab.failure {
                    _ = try await within(hosts) { try await WebSocketClient().connect(request) }
                }
            }
            let refused = try await connect([name])
            #expect(refused?.kind == .notPermitted)
            #expect(server.record.requests.isEmpty && server.record.connections.isEmpty)
            // Control: with the address allowed, the server is reached, but it does not support WebSockets.
            let asked = try await connect([name, "127.0.0.1"])
            #expect(asked != nil && asked?.kind != .notPermitted)
            #expect(server.record.requests.count == 1)
        }
    }
}
