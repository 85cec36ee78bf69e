import Capabilities
import CoreTesting
import JSON
import MCPTesting
import RPCKit
import Testing

@testable import MCPKit

@Suite("Our client and our server, in both eras", .timeLimit(.minutes(2)))
struct OwnClientTests {
    private static let eras = [MCPVersion.november2025, .july2026]

    /// A client of the service in one era.
    private func with<Value: Sendable>(
        _ service: EverythingService, _ version: MCPVersion, _ handler: TestHandler = TestHandler(),
        limits: MCPServer.Limits = MCPServer.Limits(),
        _ body: @escaping @Sendable (MCPClient) async throws -> Value
    ) async throws -> Value {
        try await TestServers.paired(MCPServer(service, limits: limits)) { channel in
            let client = MCPClient(
                of: "ours", over: StreamTransport(channel), as: Peers.identity, handler: handler,
                knowing: version.isModern ? nil : version)
            return try await client.whileRunning { try await body(client) }
        }
    }

    @Test("A call is a span with the attributes of the protocol, and fails if the tool says so", arguments: eras)
    func span(version: MCPVersion) async throws {
        let sink = RecordingSpanSink()
        let tracer = Tracer(sinks: [sink]) { Timestamp(microseconds: 0) }
        try await with(EverythingService(), version) { client in
            _ = try await client.server()
            try await tracer.span("outer", of: "lab") { _ in
                _ = try await client.call("add", ["a": 2, "b": 3])
                _ = try await client.call("fail", ["reason": "because"])
            }
        }
        let calls = sink.spans.filter { $0.kind == .client }
        #expect(calls.map(\.name) == ["tools/call add", "tools/call fail"])
        #expect(calls.map(\.failure) == [nil, "tool_error"])
        #expect(calls.allSatisfy { $0.parent == sink.spans.last?.context.span })
        for call in calls {
            #expect(
                call.attributes["mcp.method.name"] == "tools/call" && call.attributes["martlet.mcp.server"] == "ours")
            #expect(call.attributes["mcp.protocol.version"] == .string(version.rawValue))
        }
    }

    @Test("Everything that is offered is understood", arguments: eras)
    func everything(version: MCPVersion) async throws {
        let handler = TestHandler(answering: .accept(["color": "red", "count": 3]))
        let service = EverythingService()
        try await with(service, version, handler) { client in
            let info = try await client.server()
            #expect(info.version == version && info.identity == service.identity)
            #expect(info.instructions == "Use everything." && info.capabilities.subscribesResources)
            #expect(try await client.tools().count == 15)
            #expect(try await client.call("add", ["a": 2, "b": 3]).structured == ["result": 5])
            let list = try await client.call("list", ["to": 2])
            #expect(list.structured == (version.isModern ? [0, 1] : nil) && list.parts == [.text("[0,1]")])
            #expect(try await client.call("fail", ["reason": "because"]) == MCPResult("because", isError: true))
            #expect(try await client.call("parts").parts.count == 5)
            #expect(try await client.call("who").parts == [.text("tests nobody")])
            #expect(try await client.call("choose").parts == [.text("red 3")])
            #expect(try await client.call("visit").parts == [.text("stayed")])
            #expect(try await client.call("think").parts == [.text("m: sampled: hello")])
            #expect(try await client.call("folders").parts == [.text("file:///tmp/a%20b")])
            #expect(try await client.resources().count == 2)
            #expect(try await client.resourceTemplates().map(\.address) == ["note://{number}"])
            #expect(try await client.read("note://7").map(\.content) == [.text("note 7")])
            #expect(try await client.prompts().first?.arguments.map(\.isRequired) == [true, false])
            #expect(try await client.prompt("review", ["code": "x"]).messages.count == 1)
            #expect(try await client.complete(.prompt("review"), "style", "s").values == ["strict"])
            try await client.setLogLevel(.info)
            _ = try await client.call("shout", ["text": "loud"])
            #expect(handler.logs == [MCPLogEntry(.warning, logger: "shouter", "loud")])
            #expect(try await client.ping() < .seconds(30))
            #expect(handler.problems == [])
        }
        #expect(service.runs == 1)
    }

    @Test("What is unknown has the code of its era", arguments: eras)
    func unknown(version: MCPVersion) async throws {
        @Sendable func code(_ call: () async throws -> Void) async -> Int? {
            do { try await call() } catch { return (error as? MCPError)?.error?.code }
            return nil
        }
        try await with(EverythingService(), version) { client in
            #expect(await code { _ = try await client.call("nothing") } == -32602)
            #expect(await code { _ = try await client.prompt("nothing") } == -32602)
            #expect(await code { _ = try await client.read("x://y") } == (version.isModern ? -32602 : -32002))
            #expect(await code { _ = try await client.ask("tools/other") } == -32601)
        }
    }

    @Test("Progress rises, and only who wants it gets it", arguments: eras)
    func progress(version: MCPVersion) async throws {
        let steps = Steps()
        try await with(EverythingService(), version) { client in
            _ = try await client.call("count", ["to": 4]) { steps.add($0) }
            _ = try await client.call("count", ["to": 4])
        }
        #expect(steps.all.map(\.value) == [1, 2, 3, 4])
    }

    @Test("A cancelled call ends in the server", arguments: eras)
    func cancelled(version: MCPVersion) async throws {
        let service = EverythingService()
        try await with(service, version) { client in
            _ = try await client.tools()
            let seen = service.news.count
            let call = Task { try await client.call("wait") }
            try await service.news.wait(beyond: seen)
            call.cancel()
            try await service.wait { $0.cancelled == 1 }
            #expect(try await client.call("add", ["a": 1, "b": 1]).parts == [.text("2")])
        }
    }

    @Test("A client that leaves takes its calls with it", arguments: eras)
    func left(version: MCPVersion) async throws {
        let service = EverythingService()
        try await with(service, version) { client in
            _ = try await client.tools()
            let seen = service.news.count
            let call = Task { try await client.call("wait") }
            try await service.news.wait(beyond: seen)
            client.close()
            await #expect(throws: MCPError.self) { try await call.value }
        }
        #expect(service.cancelled == 1 && service.changes.count == 0)
    }

    @Test("Changes are told to who wants to know them", arguments: eras)
    func changes(version: MCPVersion) async throws {
        let handler = TestHandler()
        let service = EverythingService()
        try await with(service, version, handler) { client in
            _ = try await client.tools()
            // In the modern era the client must have asked to be told.
            while service.changes.count < (version.isModern ? 2 : 1) {
                try Task.checkCancellation()
                await Task.yield()
            }
            _ = try await client.call("grow")
            try await handler.wait { $0.changes == [.tools] }
            try await client.subscribe(to: "counter://value")
            // In the modern era the wish reaches the server in its time.
            while !handler.changes.contains(.resource("counter://value")) {
                service.changes.announce(.resource("counter://value"))
                try Task.checkCancellation()
                await Task.yield()
            }
            let heard = handler.changes.count
            service.changes.announce(.resource("note://1"))
            _ = try await client.call("bump")
            try await handler.wait { $0.changes.count > heard }
            _ = try await client.ping()
            #expect(Set(handler.changes) == [.tools, .resource("counter://value")])
        }
    }

    @Test("Long lists come in pages", arguments: eras)
    func pages(version: MCPVersion) async throws {
        try await with(EverythingService(extra: 2_500), version) { client in
            let tools = try await client.tools()
            #expect(tools.count == 2_515 && Set(tools.map(\.name)).count == 2_515)
            let page = try await client.ask("tools/list")
            #expect(page["tools"]?.array?.count == 1_000 && page["nextCursor"]?.string != nil)
            for cursor in ["x", "", "ZnJvbToxMDAwMDAw", "ZnJvbTotMQ"] {
                await #expect(throws: MCPError.self) {
                    try await client.ask("tools/list", ["cursor": .string(cursor)])
                }
            }
        }
    }

    @Test("Many calls with questions at once are not mixed up", arguments: eras)
    func many(version: MCPVersion) async throws {
        let handler = TestHandler(answering: .accept(["color": "blue", "count": 1]))
        let service = EverythingService()
        try await with(service, version, handler) { client in
            try await withThrowingTaskGroup(of: MCPResult.self) { group in
                for _ in 0..<40 { group.addTask { try await client.call("choose") } }
                for try await result in group { #expect(result.parts == [.text("blue 1")]) }
            }
        }
        #expect(service.runs == 40 && handler.questions.count == 80)
    }
}
