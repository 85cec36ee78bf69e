import Capabilities
import JSON
import Registry
import Screens
import Testing

@testable import ShellFrontend

@Suite("Recordings") struct RecordingTests {
    private static let piece = EventKind<String>(
        "message", "A part", [Field("role", "By whom") { _ in "assistant" }, Field("delta", "Text") { $0 }],
        text: "delta", format: .markdown)

    private static let action = Action("poem.write", "Write", .reads) { _ in Nothing() }
        .streaming([piece.declaration])

    private func entries(_ lines: String...) -> [String] {
        let recording = Recording(lines.joined(separator: "\n"), [Self.action])
        return recording.feed.entries(from: 0).entries.map { entry in
            "\(entry.author.rawValue) \(entry.title ?? "") \(entry.state ?? "")| \(entry.text)"
        }
    }

    @Test("The pieces of a text are one entry, and what is between them ends it")
    func pieces() {
        #expect(
            entries(
                #"{"type":"init","model":"m"}"#, #"{"type":"message","role":"assistant","delta":"One "}"#,
                #"{"type":"message","role":"assistant","delta":"two"}"#,
                #"{"type":"tool_use","id":"1","name":"fs.read","input":{"path":"a"}}"#,
                #"{"type":"tool_result","tool_id":"1","is_error":true,"content":"no file"}"#,
                #"{"type":"reasoning","delta":"Hm"}"#, #"{"type":"reasoning","delta":"m"}"#,
                #"{"type":"message","role":"assistant","delta":"three"}"#) == [
                    "notice init | model  m", "model message | One two",
                    #"tool tool use fs.read | input  {"path":"a"}"#,
                    "tool tool result failed| is_error  true\ncontent  no file", "thought reasoning | Hmm",
                    "model message | three",
                ])
    }

    @Test("Lines that are no events are counted and said, and an empty file is an empty transcript")
    func damaged() throws {
        let recording = Recording(
            "{\"type\":\"message\",\"delta\":\"a\"}\nnonsense\n[1]\n{\"type\":\"mess", [Self.action])
        #expect(recording.skipped == 3 && recording.feed.end == 1)
        #expect(recording.block.json.text().contains("3 lines are no events"))
        #expect(Recording("", [Self.action]).feed.end == 0)
    }
}
