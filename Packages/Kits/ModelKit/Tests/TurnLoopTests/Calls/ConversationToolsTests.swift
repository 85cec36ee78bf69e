import Capabilities
import JSON
import Testing

@testable import TurnLoop

/// The tools of a server that somebody else runs.
private final class ManyTools: ToolSource {
    let name = "many"
    let isBuiltIn = false
    private let count: Int

    init(_ count: Int) {
        self.count = count
    }

    func tools() async throws -> [ToolDescription] {
        (0..<count).map { number in
            ToolDescription(
                name: "tool_\(number)", summary: number == 7 ? "Sends a letter to Bern" : "Does \(number)",
                input: ["type": "object"], effect: .reads)
        }
    }
    func run(_ call: ToolCall) async throws -> ToolResult { ToolResult(call: call.id, content: "ran \(call.name)") }
}

@Suite("Tools that are too many, and results that are too long")
struct ConversationToolsTests {
    private let fixture = TurnFixture()

    private func call(_ name: String, _ input: JSON, _ id: String = "c1") -> ScriptedModel.Step {
        .says([.call(ToolCall(id: id, name: name, input: input))], finish: .calls)
    }

    @Test("Up to the limit all tools are described, and above it only a tool that finds them")
    func limit() async throws {
        for (count, isShelved) in [(60, false), (61, true)] {
            let model = ScriptedModel(.says([.text("done")]))
            _ = try await fixture.run(fixture.loop([ScriptedTools([tool("read")]), ManyTools(count)]), model)
            let names = model.requests[0].tools.map(\.name)
            #expect(names == (isShelved ? ["read", "tool_search"] : ["read"] + (0..<count).map { "many__tool_\($0)" }))
        }
    }

    @Test("Few tools with long descriptions are found too")
    func tokens() async throws {
        var loop = fixture.loop([ManyTools(10)])
        loop.limits.describedTokens = 50
        let model = ScriptedModel(.says([.text("done")]))
        _ = try await fixture.run(loop, model)
        #expect(model.requests[0].tools.map(\.name) == ["tool_search"])
    }

    @Test("What is found is described from then on, and can be called")
    func finds() async throws {
        var policy = ApprovalPolicy()
        policy.rules = [ApprovalRule(.allow, source: "many")]
        let model = ScriptedModel(
            call("tool_search", ["query": "letter to Bern"]), call("many__tool_7", [:], "c2"), .says([.text("done")]))
        let outcome = try await fixture.run(fixture.loop([ManyTools(10_000)], policy: policy), model)
        #expect(outcome.results.map(\.content).first?.contains("many__tool_7: Sends a letter to Bern") == true)
        #expect(model.requests[0].tools.map(\.name) == ["tool_search"])
        #expect(model.requests[1].tools.map(\.name) == ["many__tool_7", "tool_search"])
        #expect(outcome.results.map(\.content).last == "ran tool_7")
    }

    @Test("A tool that an earlier turn used stays described")
    func stays() async throws {
        let used: [Message] = [
            Message(.user, "Do it."),
            Message(.assistant, [.call(ToolCall(id: "c", name: "many__tool_3", input: [:]))]),
            Message(.tool, [.result(ToolResult(call: "c", content: "ran"))]), Message(.user, "Again."),
        ]
        let model = ScriptedModel(.says([.text("done")]))
        _ = try await fixture.run(fixture.loop([ManyTools(100)]), model, used)
        #expect(model.requests[0].tools.map(\.name) == ["many__tool_3", "tool_search"])
    }

    @Test("A query that fits nothing, or has no words, is told", arguments: ["xyzzy", "", "!?"])
    func findsNothing(_ query: String) async throws {
        let model = ScriptedModel(call("tool_search", ["query": .string(query)]), .says([.text("done")]))
        let outcome = try await fixture.run(fixture.loop([ManyTools(100)]), model)
        #expect(outcome.results.first?.content.contains("words") == true)
        #expect(model.requests[1].tools.map(\.name) == ["tool_search"])
    }

    @Test(
        "A long result is sent shortened with the call in it, and the rest is read by a tool, never through a character"
    )
    func reads() async throws {
        let long = String(repeating: "0123456789ä", count: 1_000)
        let (description, _) = tool("big")
        let tools = ScriptedTools([(description, { @Sendable _ in ToolResult(call: "", content: long) })])
        var loop = fixture.loop([tools])
        loop.limits.resultBytes = 1_000
        let model = ScriptedModel(
            call("big", [:]), call("tool_result_read", ["call": "c1", "offset": 5_015, "limit": 20], "c2"),
            call("tool_result_read", ["call": "c1", "offset": 12_000], "c3"),
            call("tool_result_read", ["call": "none"], "c4"), .says([.text("done")]))
        let outcome = try await fixture.run(loop, model)
        #expect(model.requests[0].tools.map(\.name) == ["big"])
        #expect(model.requests[1].tools.map(\.name) == ["big", "tool_result_read"])
        let sent = model.requests[1].messages.last?.parts.compactMap { part -> String? in
            if case .result(let result) = part { result.content } else { nil }
        }
        #expect(sent?.first?.contains("tool_result_read with the call c1 reads them") == true)
        let parts = outcome.results.map(\.content)
        // The offset is in the second byte of a character, so that the part begins before it.
        #expect(parts[1].hasPrefix("[bytes 5014 to ") && parts[1].contains("ä"))
        #expect(parts[2].contains("from 0 to 11999") && outcome.results[2].isError)
        #expect(parts[3].contains("there are: c1") && outcome.results[3].isError)
        #expect(outcome.results[0].content == long)
    }
}
