import Capabilities
import ChatHistory
import CoreTesting
import JSON
import Registry
import Screens
import Testing

@testable import Chat

@Suite("Screens of tool calls", .timeLimit(.minutes(5)))
struct ToolCallScreenTests {
    @Test("Calls are listed without their output, which the screen of a call has with its input to edit")
    func calls() async throws {
        try await ScreenDesk.run { desk in
            let talk = try await desk.history.talk("Look")
            let long = String(repeating: "bird ", count: 60_000)
            let call = ToolCall(id: "c", name: "look", input: ["at": .string(String(repeating: "sky", count: 200))])
            let noted = try await desk.history.note(
                CallEntry(call, .done, result: ToolResult(call: "c", content: long)), in: talk.id)
            let number = Int(try #require(noted.id).rawValue)
            let list = try await desk.test.open("chat.tools") { view in try await view.block { _ in true } }
            let row = try #require(list.rows.first)
            #expect(row["call"] == .int(number) && row["output"] == nil && row["input"]?.string?.count == 200)
            let detail = try #require(list.table?.detail)
            let arguments = detail.arguments(for: row)
            #expect(arguments == ["call": .int(number), "conversation": .string(talk.id.rawValue)])

            let one = try await desk.test.open("chat.call", arguments) { view in
                try await view.block { _ in true }
            }
            #expect(one.title == "look" && one.children.map(\.id) == ["facts", "input", "result", "again"])
            guard case .code(let output) = one.children[2].content, case .form(let form) = one.children[3].content
            else {
                Issue.record("\(one)")
                return
            }
            #expect(
                output.text.hasPrefix("bird bird") && output.text.contains("more; 'martlet chat inspect' shows all"))
            #expect(form.action == "chat.rerun" && form.values["input"] == call.input && form.parameters == ["input"])
        }
    }

    @Test("A call whose input is too long to be edited has a screen without the form")
    func longInput() async throws {
        try await ScreenDesk.run { desk in
            let talk = try await desk.history.talk("Look")
            let long = JSON.string(String(repeating: "sky", count: 400_000))
            let noted = try await desk.history.note(
                CallEntry(ToolCall(id: "c", name: "look", input: ["at": long]), .done), in: talk.id)
            let number = Int(try #require(noted.id).rawValue)
            let arguments: JSONObject = ["conversation": .string(talk.id.rawValue), "call": .int(number)]
            let shown = try await desk.test.open("chat.call", arguments) { view in try await view.block { _ in true } }
            guard case .text(let text) = shown.children.last?.content else {
                Issue.record("\(shown.children.map(\.id))")
                return
            }
            #expect(text.plain.contains("'martlet chat rerun \(talk.id.tag) \(number)' runs it again"))
        }
    }

    @Test("A number that is no call is a failure that names the calls")
    func unknown() async throws {
        try await ScreenDesk.run { desk in
            let talk = try await desk.history.talk("Look")
            let failure = try await desk.test.open(
                "chat.call", ["conversation": .string(talk.id.rawValue), "call": 7]
            ) { view in
                for try await state in view.states { if case .failed(let failure, _) = state { return failure.code } }
                throw CancellationError()
            }
            #expect(failure == "chat.call-unknown")
        }
    }
}
