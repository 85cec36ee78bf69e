import Capabilities
import HTTPClient
import HTTPCore
import JSON
import RPCKit
import Testing

@testable import MCPKit

@Suite("Real servers over HTTP", .serialized, .timeLimit(.minutes(5)))
struct HTTPServerTests {
    static let fast = Peers.SDK.allCases.flatMap { sdk in
        [Peers.Way.http, .sse].map { Peers.Peer(sdk: sdk, way: $0, file: "fast.py") }
    }

    @Test("FastMCP of both eras is used", arguments: fast)
    func fastMCP(peer: Peers.Peer) async throws {
        let steps = Steps()
        try await peer.client { client in
            let info = try await client.server()
            #expect(info.version == (peer.isModern ? .july2026 : .november2025))
            #expect(info.instructions == "Use this fast.")
            #expect(try await client.tools().count == 5)
            #expect(try await client.call("add", ["a": 2, "b": 3]).structured == ["result": 5])
            #expect(try await client.call("list_all").structured == ["result": ["a", "b"]])
            #expect(try await client.call("count", ["to": 3]) { steps.add($0) }.parts == [.text("counted to 3")])
            #expect(try await client.read("note://7").first?.content == .text("note 7"))
            let filled = try await client.prompt("review", ["code": "x"])
            #expect(filled.messages == [MCPMessage(.user, [.text("Review: x")])])
        }
        #expect(steps.all.map(\.value) == [1, 2, 3])
    }

    @Test("An answer whose stream the server ends early is fetched by resuming it", arguments: Peers.SDK.allCases)
    func polled(sdk: Peers.SDK) async throws {
        let peer = Peers.Peer(sdk: sdk, way: .http, file: "fast.py")
        try await peer.client(knowing: .november2025) { client in
            let polled = try await client.call("polled")
            #expect(polled.parts == [.text("resumed")])
            let next = try await client.call("add", ["a": 1, "b": 1])
            #expect(next.parts == [.text("2")])
        }
    }

    @Test(
        "Marked arguments are sent as headers too, whether or not the tools were listed before",
        arguments: ["everything.py", "fast.py"], [true, false])
    func marks(file: String, listsFirst: Bool) async throws {
        try await Peers.Peer(sdk: .modern, way: .http, file: file).client { client in
            if listsFirst { _ = try await client.tools() }
            let result = try await client.call("route", ["region": "Zürich \n"])
            #expect(result.parts == [.text(file == "fast.py" ? "Zürich \n" : "Zürich \n 1")])
        }
    }

    @Test("How a server carries messages is found out, and can be given", arguments: Peers.SDK.allCases)
    func forms(sdk: Peers.SDK) async throws {
        for way in [Peers.Way.http, .sse] {
            try await Peers.Peer(sdk: sdk, way: way).serving { address in
                var address = address
                for form in [nil, way == .sse ? .events : .streamable] as [MCPHTTPTransport.Form?] {
                    address.form = form
                    let transport = address.transport(by: Peers.http)
                    let client = MCPClient(of: "peer", over: transport, as: Peers.identity)
                    try await client.whileRunning {
                        let sum = try await client.call("add", ["a": 1, "b": 2])
                        #expect(sum.parts == [.text("3")])
                    }
                    #expect(transport.form == (way == .sse ? .events : .streamable))
                }
            }
        }
    }

    @Test("Many calls run at once", arguments: Peers.Peer.everything.filter { $0.way != .stdio })
    func many(peer: Peers.Peer) async throws {
        try await peer.client { client in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        try await client.call("add", ["a": .int(number), "b": 1]).parts == [.text("\(number + 1)")]
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test("A server that is not there is told as such, without a handshake")
    func absent() async throws {
        let address = MCPServerAddress(try HTTPURL("http://127.0.0.1:1/mcp"))
        let error = await #expect(throws: MCPError.self) { try await address.with { try await $0.server() } }
        #expect(error?.kind == .closed && error?.message.contains("nothing is listening") == true)
    }
}
