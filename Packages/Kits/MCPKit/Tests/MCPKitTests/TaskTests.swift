import Capabilities
import JSON
import RPCKit
import Testing

@testable import MCPKit

/// Tasks of FastMCP in the legacy era, and those of an extension of the reference SDK in the modern one, since no SDK has
/// them yet.
@Suite("Calls that run as tasks", .timeLimit(.minutes(3)), .serialized)
struct TaskTests {
    private static func peer(_ sdk: Peers.SDK) -> Peers.Peer { Peers.Peer(sdk: sdk, way: .stdio, file: "tasks.py") }

    @Test("A task of the legacy era is begun where the tool requires it, and its result is that of the call")
    func legacy() async throws {
        try await Self.peer(.legacy).client { client in
            let tools = try await client.tools()
            #expect(tools.first { $0.name == "add" }?.tasks == .required)
            let sum = try await client.call("add", ["a": 2, "b": 3])
            #expect(sum.parts == [.text("5")])
            let failed = try await client.call("fail")
            #expect(failed.isError && failed.parts.first?.text.contains("because") == true)
        }
    }

    @Test("A task of the modern era is waited for, with its progress, its questions and its failure")
    func modern() async throws {
        let steps = Steps()
        let handler = TestHandler(answering: .accept(["color": "red"]))
        try await Self.peer(.modern).client(handler: handler) { client in
            let done = try await client.call("add") { steps.add($0) }
            #expect(done.parts == [.text("done")])
            let answered = try await client.call("ask")
            #expect(answered.parts == [.text("red")])
            do {
                _ = try await client.call("fail")
                Issue.record("it did not fail")
            } catch {
                let error = try #require(error as? MCPError)
                #expect(error.kind == .refused && error.message.contains("could not finish the task of fail: because"))
            }
        }
        #expect(steps.all.map(\.value) == [1, 2, 3] && steps.all.last?.message == "poll 2")
        #expect(handler.questions.count == 1)
    }

    @Test("A task whose time is over, or whose call is cancelled, is cancelled at the server")
    func cancelled() async throws {
        try await Self.peer(.modern).client { client in
            do {
                _ = try await client.call("wait", within: RPCTimeLimit(.milliseconds(100)))
                Issue.record("it ended")
            } catch {
                let error = try #require(error as? MCPError)
                #expect(error.kind == .timedOut && error.message.contains("the task of wait within 100ms"))
            }
            let begun = Signal()
            let call = Task { try await client.call("wait") { _ in begun.raise() } }
            try await begun.wait(beyond: 0)
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            let count = try await client.call("cancelled")
            #expect(count.structured == ["result": 2])
        }
    }

    @Test("A structure that is not what the tool has promised is left out and told; what is right stays")
    func structure() async throws {
        let handler = TestHandler()
        let program = Peers.script(
            """
            read probe; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'
            read initialize
            echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}'
            read initialized; read list
            schema='{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
            echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":'$schema'},{"name":"b","inputSchema":{"type":"object"},"outputSchema":{"type":5}}]}}'
            id=4; for value in '{"n":1}' '{"n":"one"}' '{"n":2}' '{"n":3}'; do
                read call; echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[],"structuredContent":'$value'}}'; id=$((id+1))
            done
            cat >/dev/null
            """)
        try await program.client(handler: handler) { client in
            _ = try await client.tools()
            let right = try await client.call("a")
            #expect(right.structured == ["n": 1])
            let wrong = try await client.call("a")
            #expect(wrong.structured == nil && wrong.parts == [.text(#"{"n":"one"}"#)])
            for _ in 0..<2 { _ = try await client.call("b") }
        }
        #expect(handler.problems.count == 2 && handler.problems.first?.contains("/n needs an integer") == true)
    }
}
