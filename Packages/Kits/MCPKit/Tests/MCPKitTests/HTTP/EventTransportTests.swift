import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import RPCKit
import Testing

@testable import MCPKit

@Suite("The transport of 2024-11-05", .timeLimit(.minutes(2)))
struct EventTransportTests {
    /// A server whose stream begins with an event, and then brings what the test sends there.
    private static func server(
        _ endpoint: String, stream: @escaping @Sendable (ScriptedConnection) throws -> Void = { try $0.stall() },
        told: @escaping @Sendable (MCPRequest) -> Void = { _ in }
    ) -> ScriptedMCP.Script {
        { request, connection in
            guard request.method != "GET" else {
                try connection.beginEvents()
                try connection.send("event: endpoint\ndata: \(endpoint)\n\n")
                return try stream(connection)
            }
            try connection.answer(request.http.target == "/mcp" ? 405 : 202)
            told(request)
        }
    }

    @Test(
        "Messages go to no other origin",
        arguments: ["http://127.0.0.1:9/messages", "https://127.0.0.1/messages", "//example.com/messages"])
    func elsewhere(endpoint: String) async throws {
        try await ScriptedMCP.run(Self.server(endpoint)) { address, server in
            var address = address
            address.form = .events
            let error = await #expect(throws: MCPError.self) { try await address.with { try await $0.server() } }
            #expect(error?.message.contains("another server") == true)
            #expect(server.record.requests.count == 1)
        }
    }

    @Test("A server that does not say where messages go is given up in time")
    func noEndpoint() async throws {
        var limits = MCPHTTPLimits()
        limits.endpoint = .milliseconds(100)
        try await ScriptedMCP.run(limits: limits) { request, connection in
            guard request.method == "GET" else { return try connection.answer(405) }
            try connection.beginEvents()
            try connection.stall()
        } during: { address, _ in
            for form in [nil, .events] as [MCPHTTPTransport.Form?] {
                var address = address
                address.form = form
                let error = await #expect(throws: MCPError.self) { try await address.with { try await $0.server() } }
                // What the newer transport was told is what counts when neither works.
                let words = form == nil ? "405" : "did not name the address for messages"
                #expect(error?.message.contains(words) == true, "\(error)")
            }
        }
    }

    @Test("A server that is known to carry messages in the newer way is asked in that way only")
    func onlyNewer() async throws {
        try await ScriptedMCP.run(Self.server("/messages") { _ in throw ScriptError.stopped }) { address, server in
            for form in [.streamable, nil] as [MCPHTTPTransport.Form?] {
                var address = address
                address.form = form
                await #expect(throws: MCPError.self) { try await address.with { try await $0.server() } }
                #expect(server.record.requests.contains { $0.method == "GET" } == (form == nil))
            }
        }
    }

    @Test("The end of the stream is the end of the server, and calls fail with it")
    func end() async throws {
        let (handshake, call) = (Gate(), Gate())
        let result = #"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}}}"#
        let script = Self.server("/messages?session=1") { connection in
            handshake.pass()
            try connection.send("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\(result)}\n\n")
            call.pass()
            throw ScriptError.stopped
        } told: { request in
            if request.method == "initialize" { handshake.open() }
            if request.method == "tools/call" { call.open() }
        }
        try await ScriptedMCP.run(script) { address, server in
            var address = address
            address.form = .events
            try await address.with(knowing: .november2024) { client in
                let info = try await client.server()
                #expect(info.version == .november2024)
                let error = await #expect(throws: MCPError.self) { try await client.call("tool") }
                #expect(error?.kind == .closed && error?.message.contains("ended its stream") == true)
            }
            let posts = server.record.requests.filter { $0.method == "POST" }
            #expect(posts.allSatisfy { $0.target == "/messages?session=1" })
        }
    }
}
