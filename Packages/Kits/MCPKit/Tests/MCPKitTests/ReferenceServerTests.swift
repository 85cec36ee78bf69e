import Capabilities
import JSON
import ProcessKit
import RPCKit
import Testing

@testable import MCPKit

// One after the other: dozens of Python programs that start at once would take each other's time.
@Suite("Servers of the reference SDK, of both eras", .runningPeers, .serialized, .timeLimit(.minutes(5)))
struct ReferenceServerTests {
    @Test("The revision is agreed on, and the server presents itself", arguments: Peers.Peer.everything)
    func negotiation(peer: Peers.Peer) async throws {
        let info = try await peer.client { try await $0.server() }
        #expect(info.version == (peer.isModern ? .july2026 : .november2025))
        #expect(info.identity.name == "everything" && info.instructions == "Use everything.")
        #expect(info.capabilities.tools != nil && info.capabilities.prompts != nil && info.capabilities.completions)
        // What is known need not be asked.
        let again = try await peer.client(knowing: info.version) { try await $0.server() }
        #expect(again.version == info.version)
    }

    @Test(
        "Tools are listed and called, with structure, errors and all kinds of parts", arguments: Peers.Peer.everything)
    func tools(peer: Peers.Peer) async throws {
        try await peer.client { client in
            let tools = try await client.tools()
            #expect(Set(tools.map(\.name)).isSuperset(of: ["add", "mirror", "fail", "parts", "count"]))
            let add = try #require(tools.first { $0.name == "add" })
            #expect(add.summary == "Adds two numbers." && add.input["properties"]?["a"] != nil && add.output != nil)
            let sum = try await client.call("add", ["a": 2, "b": 3])
            #expect(sum.parts == [.text("5")] && sum.structured == ["result": 5] && !sum.isError)
            let point = try await client.call("mirror", ["point": ["x": 1, "y": 2]])
            #expect(point.structured == ["x": 2, "y": 1])
            let failed = try await client.call("fail", ["reason": "because"])
            // The newer SDK does not pass on what an error says.
            let reason = peer.sdk == .modern ? "fail" : "because"
            #expect(failed.isError && failed.parts.first?.text.contains(reason) == true)
            let wrong = try await client.call("add", ["a": "two", "b": 3])
            #expect(wrong.isError)
            let parts = try await client.call("parts").parts
            #expect(parts.count == 5 && parts[0] == .text("a text"))
            guard case .media(let image) = parts[1], case .media(let sound) = parts[2], case .link(let link) = parts[3],
                case .resource(let note) = parts[4]
            else {
                Issue.record("other parts: \(parts)")
                return
            }
            #expect(image.mediaType == "image/png" && image.bytes.starts(with: [0x89, 0x50]) && sound.bytes.count == 4)
            #expect(link.address == "file:///etc/passwd" && note.content == .text("a note"))
        }
    }

    @Test("An unknown tool is refused by its server, by an error or a result", arguments: Peers.Peer.everything)
    func unknownTool(peer: Peers.Peer) async throws {
        try await peer.client("everything") { client in
            do {
                let result = try await client.call("nothing")
                #expect(result.isError)
            } catch {
                let error = try #require(error as? MCPError)
                #expect(error.kind == .refused && error.message.contains("'everything'"))
            }
        }
    }

    @Test("Progress comes in order", arguments: Peers.Peer.everything)
    func progress(peer: Peers.Peer) async throws {
        let steps = Steps()
        let result = try await peer.client { client in
            try await client.call("count", ["to": 5]) { steps.add($0) }
        }
        #expect(result.parts == [.text("counted to 5")])
        #expect(steps.all.map(\.value) == [1, 2, 3, 4, 5] && steps.all.last?.message == "step 5")
    }

    @Test("A cancelled call ends at once, and the server answers the next", arguments: Peers.Peer.everything)
    func cancelled(peer: Peers.Peer) async throws {
        try await peer.client { client in
            let call = Task { try await client.call("wait") }
            _ = try await client.tools()
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            #expect(try await client.call("add", ["a": 1, "b": 1]).parts == [.text("2")])
        }
    }

    @Test("Resources, templates, prompts and completions", arguments: Peers.Peer.everything)
    func others(peer: Peers.Peer) async throws {
        try await peer.client { client in
            #expect(try await client.resources().map(\.address) == ["config://all"])
            #expect(try await client.resourceTemplates().map(\.address) == ["note://{number}"])
            #expect(try await client.read("config://all").map(\.content) == [.text("{\"a\": 1}")])
            #expect(try await client.read("note://7").first?.content == .text("note 7"))
            await #expect(throws: MCPError.self) { try await client.read("missing://") }
            let prompts = try await client.prompts()
            #expect(prompts.map(\.name) == ["review"])
            #expect(prompts.first?.arguments.map(\.isRequired) == [true, false])
            let filled = try await client.prompt("review", ["code": "x", "style": "strict"])
            #expect(filled.messages == [MCPMessage(.user, [.text("Review in a strict way: x")])])
            let completed = try await client.complete(.prompt("review"), "style", "k")
            #expect(completed.values == ["kind", "kurt"])
            #expect(try await client.ping() < .seconds(30))
        }
    }

    @Test(
        "A question of a legacy server reaches the person, and the answer the server",
        arguments: Peers.Peer.everything.filter { !$0.isModern })
    func question(peer: Peers.Peer) async throws {
        let handler = TestHandler(answering: .accept(["color": "red", "count": 3]))
        let result = try await peer.client(handler: handler) { try await $0.call("choose") }
        #expect(result.parts == [.text("red 3")])
        guard case .form(let message, let schema)? = handler.questions.first else {
            Issue.record("no question")
            return
        }
        #expect(message == "Which color?" && schema["properties"]?["color"] != nil)
        let declined = try await peer.client(handler: TestHandler()) {
            try await $0.call("choose")
        }
        #expect(declined.parts == [.text("decline")])
    }

    @Test("A tool that was added is told and can be called", arguments: Peers.Peer.everything)
    func changed(peer: Peers.Peer) async throws {
        let handler = TestHandler()
        try await peer.client(handler: handler) { client in
            _ = try await client.tools()
            _ = try await client.call("grow")
            if try await client.server().capabilities.tools?.tellsChanges == true || !peer.isModern {
                try await handler.wait { $0.changes.contains(.tools) }
            }
            #expect(try await client.tools().contains { $0.name == "grown" })
            #expect(try await client.call("grown").parts == [.text("grown")])
        }
    }
}
