import Capabilities
import ChatHistory
import JSON
import Testing

@Suite("Timeline of calls", .timeLimit(.minutes(5)))
struct CallTests {
    @Test("A call keeps its whole input and output while its state changes")
    func states() async throws {
        try await withHistory { history in
            let chat = try await history.talk("Hello")
            let call = ToolCall(id: "call_0", name: "files.read", input: ["path": "a\u{0}b", "n": 1.0])
            var entry = try await history.note(CallEntry(call, .waiting, source: "files", effect: .reads), in: chat.id)
            #expect(entry.id != nil)
            entry.state = .running
            entry.decision = "policy"
            entry.started = Days.start
            try await history.note(entry, in: chat.id)
            entry.state = .failed
            entry.result = ToolResult(
                call: "call_0", content: String(repeating: "x\u{0}", count: 100_000), isError: true,
                duration: .milliseconds(3), exitCode: 137)
            entry.ended = Timestamp(microseconds: Days.start.microseconds + 3)
            try await history.note(entry, in: chat.id)
            #expect(try await history.timeline(of: chat.id) == [entry])
            // Models use one id several times.
            let again = try await history.note(CallEntry(call, .denied, decision: "nobody there"), in: chat.id)
            #expect(try await history.timeline(of: chat.id) == [entry, again])
        }
    }

    @Test("A fork has the calls that were made before it")
    func forks() async throws {
        try await withHistory { history in
            let chat = try await history.talk("Hello")
            func note(_ name: String, _ chat: Conversation) async throws -> CallID {
                let call = CallEntry(ToolCall(id: name, name: name, input: [:]), .done)
                return try #require(try await history.note(call, in: chat.id).id)
            }
            let before = try await note("before", chat)
            let fork = try await history.fork(chat.id)
            let after = try await note("after", chat)
            _ = try await note("own", fork)
            #expect(try await history.call(before, of: fork.id)?.call.name == "before")
            #expect(try await history.call(after, of: chat.id)?.call.name == "after")
            #expect(try await history.call(after, of: fork.id) == nil)
            #expect(try await history.timeline(of: fork.id).map(\.call.name) == ["before", "own"])
            #expect(try await history.timeline(of: chat.id).map(\.call.name) == ["before", "after"])
        }
    }
}
