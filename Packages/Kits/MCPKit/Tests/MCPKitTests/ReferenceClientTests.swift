import Capabilities
import JSON
import MCPTesting
import ProcessKit
import Testing

@testable import MCPKit

/// A client program of others.
struct ForeignClient: Sendable, CustomTestStringConvertible {
    let sdk: Peers.SDK
    let kind: String
    let mode: String

    var testDescription: String { "\(kind) of \(sdk.rawValue), \(mode)" }
    var isModern: Bool { sdk == .modern && mode == "auto" }

    static let all = [
        ForeignClient(sdk: .legacy, kind: "sdk", mode: "legacy"),
        ForeignClient(sdk: .modern, kind: "sdk", mode: "legacy"),
        ForeignClient(sdk: .modern, kind: "sdk", mode: "auto"),
        ForeignClient(sdk: .legacy, kind: "fastmcp", mode: "legacy"),
        ForeignClient(sdk: .modern, kind: "fastmcp", mode: "auto"),
    ]
}

@Suite("Clients of the reference SDK and of FastMCP, of both eras", .timeLimit(.minutes(5)))
struct ReferenceClientTests {
    private static func check(_ seen: JSON, of client: ForeignClient, over transport: String) {
        if client.kind == "sdk" {
            #expect(seen["version"] == (client.isModern ? "2026-07-28" : "2025-11-25"))
            #expect(seen["name"] == "everything" && seen["instructions"] == "Use everything.")
        }
        #expect(seen["tools"] == 15 && seen["pages"] == 1)
        #expect(seen["add"] == [["5"], ["result": 5], false])
        // Only the modern era has structures that are no objects.
        #expect(seen["list"] == [["[0,1,2]"], client.isModern ? [0, 1, 2] : nil, false])
        #expect(seen["fail"] == [["because"], nil, true])
        #expect(seen["unknown"] == -32602)
        #expect(seen["parts"] == ["text", "image", "audio", "resource_link", "resource"])
        #expect(seen["who"]?[0]?.string?.hasSuffix(transport == "http" ? " tester" : " nobody") == true)
        #expect(seen["count"] == ["counted to 3"])
        #expect(seen["steps"]?.array?.compactMap { $0[0]?.double } == [1, 2, 3] && seen["steps"]?[2]?[2] == "step 3")
        #expect(seen["choose"] == ["red 3"] && seen["questions"] == ["Which color?", "How many?"])
        #expect(seen["think"]?[0]?.string?.hasSuffix(": said hello") == true)
        #expect(seen["folders"]?[0]?.string?.hasPrefix("file:///tmp/here") == true)
        #expect(seen["resources"] == ["config://all", "counter://value"] && seen["templates"] == ["note://{number}"])
        #expect(seen["read"] == "note 7")
        if client.kind == "sdk" { #expect(seen["missing"] == (client.isModern ? -32602 : -32002)) }
        #expect(seen["prompts"] == ["review"] && seen["prompt"] == "Review in a strict way: x")
        #expect(seen["completion"] == ["kind", "kurt"] && seen["grown"] == ["grown"])
        if client.isModern, client.kind == "sdk" {
            #expect(seen["first"] == "ResourceUpdated" && seen["second"] == "ToolsListChanged")
            #expect(seen["region"] == ["süd"])
        }
    }

    @Test("They use everything over the standard streams", arguments: ForeignClient.all)
    func streams(client: ForeignClient) async throws {
        let seen = try await TestServers.seen(client.sdk, client.kind, client.mode, try TestServers.program())
        Self.check(seen, of: client, over: "stdio")
    }

    @Test("They use everything over HTTP, and leave nothing behind", arguments: ForeignClient.all)
    func http(client: ForeignClient) async throws {
        let service = EverythingService()
        let http = MCPHTTPServer(MCPServer(service))
        let seen = try await TestServers.overHTTP(http) { port in
            let seen = try await TestServers.seen(
                client.sdk, client.kind, client.mode, "http://127.0.0.1:\(port)/mcp")
            // Sessions are ended by their clients; what was cancelled has ended.
            if client.kind == "sdk" { try await service.wait { $0.cancelled == 1 } }
            #expect(http.sessionCount == 0)
            return seen
        }
        Self.check(seen, of: client, over: "http")
        #expect(service.runs == 1 && service.changes.count == 0)
        #expect(http.owner.count == 0 && http.server.suspended.count == 0)
    }

    @Test(
        "A connection that breaks in a call is taken up again, and the call runs once",
        arguments: ForeignClient.all.filter { !$0.isModern })
    func resumption(client: ForeignClient) async throws {
        let service = EverythingService()
        let http = MCPHTTPServer(MCPServer(service))
        let seen = try await TestServers.overHTTP(http) { port in
            try await TestServers.seen(
                client.sdk, client.kind, client.mode, "cut:http://127.0.0.1:\(port)/mcp")
        }
        Self.check(seen, of: client, over: "http")
        #expect(seen["cut"] == true && service.runs == 1)
    }

    @Test("Our server as a program ends when its input does, and writes nothing but messages")
    func program() async throws {
        let opening = #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#
        let result = try await Peers.launcher.run(
            Command(
                "/bin/sh",
                [
                    "-c", "(printf '%s\\n' '\(opening)' rubbish; head -c 3000000 /dev/zero) | \"$0\"",
                    try TestServers.program(),
                ], environment: Peers.environment), timeout: .seconds(60))
        #expect(result.status == .exited(0) && result.errors.isEmpty)
        for line in result.output.split(separator: UInt8(ascii: "\n")) {
            #expect(try JSON(parsing: Array(line))["jsonrpc"] == "2.0")
        }
        try await MCPProgram(Command(try TestServers.program(), environment: Peers.environment)).client { client in
            let info = try await client.server()
            let sum = try await client.call("add", ["a": 1, "b": 1])
            #expect(info.version == .july2026 && sum.parts == [.text("2")])
        }
    }
}
