import Capabilities
import CoreTesting
import JSON
import Testing

@testable import TurnLoop

@Suite("History repair")
struct HistoryRepairTests {
    private func result(_ id: String, _ content: String = "ok") -> Message.Part {
        .result(ToolResult(call: id, content: content))
    }

    @Test("A valid history is not changed")
    func sound() {
        let history = [
            Message(.system, "Be kind."), Message(.user, "Hi."), Message(.assistant, [.text("So"), call("a", "read")]),
            Message(.tool, [result("a")]), Message(.assistant, "Done."),
        ]
        #expect(HistoryRepair.repaired(history) == history)
    }

    @Test("Calls left open by a killed program are answered, in their order")
    func open() {
        let broken = MalformedCall(id: "b", name: "x", text: "{", reason: "")
        let history = [
            Message(.assistant, [call("a", "read"), .malformedCall(broken), call("c", "read")]),
            Message(.tool, [result("c")]), Message(.user, "And?"),
        ]
        let repaired = HistoryRepair.repaired(history)
        let unknown = CallMessages.unknownEnd
        #expect(repaired.map(\.role) == [.assistant, .tool, .user])
        #expect(
            repaired[1].parts == [
                .result(ToolResult(call: "a", content: unknown, isError: true)),
                .result(ToolResult(call: "b", content: unknown, isError: true)), result("c"),
            ])
    }

    @Test("The results of one message are gathered, and duplicate and orphaned results are dropped")
    func gathers() {
        let history = [
            Message(.tool, [result("nobody")]), Message(.assistant, [call("a", "read"), call("b", "read")]),
            Message(.tool, [result("b")]), Message(.tool, [result("a"), result("a", "again"), result("z")]),
            Message(.user, "And?"), Message(.tool, [result("a", "late")]),
        ]
        #expect(
            HistoryRepair.repaired(history) == [
                history[1], Message(.tool, [result("a"), result("b")]), Message(.user, "And?"),
            ])
    }

    @Test("Calls that the server ran get no results")
    func done() {
        let call = ToolCall(id: "s", name: "search", input: [:], isDone: true)
        let history = [Message(.assistant, [.call(call), .result(ToolResult(call: "s", content: "x")), .text("So.")])]
        #expect(HistoryRepair.repaired(history) == history)
    }

    @Test("Empty messages and answers with reasoning only are removed")
    func empty() {
        let history = [
            Message(.user, []), Message(.assistant, [.reasoning(Reasoning("Hm"))]), Message(.assistant, ""),
            Message(.user, "Hi."),
        ]
        #expect(HistoryRepair.repaired(history) == [Message(.user, "Hi.")])
    }

    @Test("Calls with the same id are distinguished")
    func sameID() {
        let history = [
            Message(.assistant, [call("x", "one"), call("x", "two")]),
            Message(.tool, [result("x", "1"), result("x", "2")]),
        ]
        let repaired = HistoryRepair.repaired(history)
        #expect(repaired[0].calls.map(\.id) == ["x", "x_2"])
        #expect(repaired[1].parts == [result("x", "1"), result("x_2", "2")])
    }

    @Test("Any repaired history is valid and needs no second repair", arguments: 1...100)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let history = (0..<12).map { _ -> Message in
            let parts = (0..<Int.random(in: 0...3, using: &random)).map { _ -> Message.Part in
                let id = String("abc".randomElement(using: &random) ?? "a")
                return switch Int.random(in: 0...3, using: &random) {
                case 0: .text("t")
                case 1: call(id, "read")
                case 2: result(id)
                default: .reasoning(Reasoning("r"))
                }
            }
            switch Int.random(in: 0...2, using: &random) {
            case 0: return Message(.user, "u")
            case 1: return Message(.assistant, parts.filter { if case .result = $0 { false } else { true } })
            default: return Message(.tool, parts.filter { if case .result = $0 { true } else { false } })
            }
        }
        let repaired = HistoryRepair.repaired(history)
        #expect(isValid(repaired), "seed \(seed)")
        #expect(HistoryRepair.repaired(repaired) == repaired, "seed \(seed)")
    }
}

/// Whether each call is answered once, in order, in the next message, and nothing else is answered.
func isValid(_ history: [Message]) -> Bool {
    var open: [String] = []
    for message in history {
        if message.role == .tool {
            let answered = message.parts.compactMap { part -> String? in
                if case .result(let result) = part { result.call } else { nil }
            }
            if answered != open || open.isEmpty { return false }
            open = []
        } else {
            if !open.isEmpty { return false }
            open = message.openCalls.map(\.id)
            if Set(open).count != open.count { return false }
        }
    }
    return open.isEmpty
}
