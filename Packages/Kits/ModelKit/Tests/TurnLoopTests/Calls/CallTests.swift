import Capabilities
import CoreTesting
import JSON
import Synchronization
import Testing

@testable import TurnLoop

@Suite("Calls")
struct CallTests {
    let fixture = TurnFixture()

    private func outcome(
        _ parts: [Message.Part], _ sources: [any ToolSource], allowing all: Bool = true,
        _ change: (inout TurnLoop) -> Void = { _ in }
    ) async throws -> TurnOutcome {
        let policy = ApprovalPolicy(rules: all ? [ApprovalRule(.allow)] : [])
        var loop = fixture.loop(sources, policy: policy)
        change(&loop)
        return try await fixture.run(loop, ScriptedModel(.says(parts, finish: .calls), .says([.text("Done.")])))
    }

    @Test("Calls that only read run in parallel, and their results keep the order of the calls")
    func parallel() async throws {
        let (first, second) = (Signal(), Signal())
        let tools = ScriptedTools([
            // Each waits for the other, so they only end if they run in parallel; the first ends last.
            tool("one") { _ in
                first.raise()
                await second.wait()
                return ToolResult(call: "", content: "1")
            },
            tool("two") { _ in
                await first.wait()
                second.raise()
                return ToolResult(call: "", content: "2")
            },
        ])
        let outcome = try await outcome([call("a", "one"), call("b", "two")], [tools])
        #expect(outcome.results.map(\.call) == ["a", "b"])
        #expect(outcome.results.map(\.content) == ["1", "2"])
    }

    @Test("No more calls run in parallel than the limit allows")
    func limit() async throws {
        let tools = ScriptedTools([
            tool("read") { _ in
                for _ in 0..<20 { await Task.yield() }
                return ToolResult(call: "", content: "")
            }
        ])
        let calls = (0..<12).map { call("c\($0)", "read") }
        let outcome = try await outcome(calls, [tools]) { $0.limits.parallelCalls = 3 }
        #expect(outcome.results.map(\.call) == (0..<12).map { "c\($0)" })
        #expect(tools.most <= 3)
    }

    @Test("Calls that write run alone and in order, after earlier reads and before later ones")
    func writes() async throws {
        let tools = ScriptedTools([tool("read"), tool("write", .writes), tool("drop", .destroys)])
        let outcome = try await outcome(
            [call("a", "read"), call("b", "write"), call("c", "drop"), call("d", "read"), call("e", "read")], [tools])
        #expect(tools.overlaps.allSatisfy { $0.allSatisfy { $0.hasPrefix("read") } })
        #expect(Array(tools.calls.map(\.id).prefix(3)) == ["a", "b", "c"])
        #expect(outcome.results.map(\.call) == ["a", "b", "c", "d", "e"])
    }

    @Test("Failing, unreachable and working tools are reported to the model, which continues")
    func faults() async throws {
        let tools = ScriptedTools([
            tool("fails") { _ in ToolResult(call: "", content: "no such file", isError: true, exitCode: 2) },
            tool("gone") { _ in throw ToolFault() }, tool("read"),
        ])
        let outcome = try await outcome([call("a", "fails"), call("b", "gone"), call("c", "read")], [tools])
        #expect(outcome.endName == "answered")
        #expect(outcome.exit == .done)
        #expect(outcome.results.map(\.isError) == [true, true, false])
        #expect(outcome.results[0].exitCode == 2)
        #expect(outcome.results[1].content == "the tool could not be used: the server behind the tool is gone")
        #expect(outcome.failedCalls == 2)
        #expect(fixture.states(of: "b") == [.waiting, .approved, .running, .failed])
    }

    @Test("Calls that take too long are stopped, even if the tool ignores cancellation", .timeLimit(.minutes(5)))
    func tooSlow() async throws {
        let (never, started) = (Signal(), Signal())
        let tools = ScriptedTools([
            tool("deaf") { _ in
                started.raise()
                await never.wait()
                return ToolResult(call: "", content: "too late")
            }
        ])
        let fixture = fixture
        let turn = Task {
            try await fixture.run(
                fixture.loop([tools]), ScriptedModel(.says([call("a", "deaf")], finish: .calls), .says([.text("Ok")])))
        }
        await started.wait()
        await fixture.clock.waitForSleepers()
        fixture.clock.advance(by: .seconds(30))
        let outcome = try await turn.value
        never.raise()
        #expect(outcome.endName == "answered")
        #expect(outcome.results.map(\.content) == ["the tool did not answer within 30s and was stopped"])
        #expect(outcome.results.first?.duration == .seconds(30))
    }

    @Test("Calls of unknown tools are answered with the nearest name")
    func unknown() async throws {
        let tools = ScriptedTools([tool("read_file"), tool("list_files")])
        let outcome = try await outcome([call("a", "read_fil"), call("b", "zzz\u{1B}[2J")], [tools])
        #expect(outcome.results[0].content == "there is no tool 'read_fil'; did you mean 'read_file'?")
        #expect(outcome.results[1].content == #"there is no tool 'zzz\u{1B}[2J'"#)
        #expect(outcome.results.map(\.isError) == [true, true])
        #expect(fixture.states(of: "a") == [.waiting, .failed])
    }

    @Test("Malformed calls are answered with the problem, for the model to repair")
    func malformed() async throws {
        let broken = MalformedCall(id: "a", name: "read", text: "{\"path\": ", reason: "it ends too early")
        let outcome = try await outcome([.malformedCall(broken), call("b", "read")], [ScriptedTools([tool("read")])])
        #expect(outcome.results.map(\.call) == ["a", "b"])
        #expect(outcome.results[0].isError)
        #expect(outcome.results[0].content.contains("it ends too early"))
        #expect(fixture.updates.first?.call.input == "{\"path\": ")
    }

    @Test("Calls beyond the limit of one answer are not run and say so")
    func tooMany() async throws {
        let tools = ScriptedTools([tool("read")])
        let calls = (0..<5).map { call("c\($0)", "read") }
        let outcome = try await outcome(calls, [tools]) { $0.limits.callsPerAnswer = 3 }
        #expect(outcome.results.map(\.isError) == [false, false, false, true, true])
        #expect(outcome.results.last?.content == CallMessages.tooMany(3))
    }

    @Test("Calls with the same id, or none, each have their own result")
    func sameID() async throws {
        let tools = ScriptedTools([tool("read")])
        let calls = [
            call("x", "read", ["path": "1"]), call("x", "read", ["path": "2"]), call("", "read", ["path": "3"]),
        ]
        let outcome = try await outcome(calls, [tools])
        #expect(outcome.messages.first?.message.calls.map(\.id) == ["x", "x_2", "call"])
        #expect(outcome.results.map(\.call) == ["x", "x_2", "call"])
        #expect(outcome.results.map(\.content).last == #"read {"path":"3"}"#)
    }

    @Test("Calls reach the source under its own name for the tool")
    func names() async throws {
        let (first, second) = (ScriptedTools("files", [tool("read")]), ScriptedTools("my notes", [tool("read")]))
        let dotted = ScriptedTools("odd", [tool("a.b/ü")])
        let outcome = try await outcome(
            [call("a", "read"), call("b", "my_notes_read"), call("c", "a_b__")], [first, second, dotted])
        #expect(first.calls.map(\.id) == ["a"])
        #expect(second.calls.map(\.name) == ["read"])
        #expect(dotted.calls.map(\.name) == ["a.b/ü"])
        #expect(outcome.results.map(\.isError) == [false, false, false])
        let update = fixture.updates.last { $0.call.id == "b" }
        #expect(update?.source == "my notes" && update?.tool == "read")
    }

    @Test("Only the tools of responding sources are used, and a notice names the others")
    func deadSource() async throws {
        let dead = ScriptedTools("dead", failing: ToolFault())
        let outcome = try await outcome([call("a", "read")], [dead, ScriptedTools([tool("read")])])
        #expect(outcome.results.map(\.isError) == [false])
        #expect(fixture.notices == ["the tools of 'dead' are not available: the server behind the tool is gone"])
    }

    @Test("A call can be repeated with another input, under the same rules")
    func again() async throws {
        let tools = ScriptedTools([tool("read"), tool("write", .writes)])
        let loop = fixture.loop([tools])
        let edited = ToolCall(id: "a", name: "read", input: ["path": "other"], isDone: true)
        let result = try await loop.run(again: edited) { events in fixture.events.withLock { $0 += events } }
        #expect(result.content == #"read {"path":"other"}"#)
        #expect(fixture.states(of: "a") == [.waiting, .approved, .running, .done])
        let denied = try await loop.run(again: ToolCall(id: "b", name: "write", input: [:])) { _ in }
        #expect(denied.content == CallMessages.nobody)
    }
}
