import Capabilities
import CoreTesting
import JSON
import Registry
import Testing

@Suite("Event kinds")
struct EventKindTests {
    private struct Piece: Record {
        var text: String
        var author: String?
        var extra = JSON.null

        static let fields: [Field<Piece>] = [
            Field(Schema.Property("version", "Version of the format", .integer(nil), keywords: ["const": 1])) { _ in 1
            },
            Field("delta", "Text to append") { $0.text }, Field("author", "Who wrote it") { $0.author },
            Field("extra", "Anything") { $0.extra },
        ]
    }

    private static let piece = EventKind<Piece>("message", "A part of the answer", text: "delta", format: .markdown)

    @Test("An event has the members of its value in the declared order, without optional ones that have no value")
    func members() {
        let event = Self.piece.event(Piece(text: "Hi", author: "Ada"))
        #expect(
            event.json.text() == #"{"type":"message","version":1,"delta":"Hi","author":"Ada","extra":null}"#)
        #expect(Self.piece.members(of: Piece(text: "", extra: 2)).description == #"{"version":1,"delta":"","extra":2}"#)
    }

    @Test("An event reads as the declared member, unless another text is given")
    func text() {
        let event = Self.piece.event(Piece(text: "Hi"))
        #expect(event.text == "Hi" && event.format == .markdown)
        let other = Self.piece.event(Piece(text: "Hi"), text: "\n", format: .plain)
        #expect(other.text == "\n" && other.format == .plain)
        let silent = EventKind<Int>("count", "A number", [Field("n", "The number") { $0 }])
        #expect(silent.event(1).text == nil && silent.event(1, text: "one").text == "one")
    }

    @Test("The declaration of an event has an exact JSON Schema")
    func schema() {
        let declaration = Self.piece.declaration
        #expect(declaration.text == "delta" && declaration.format == .markdown)
        let properties = [
            #""type":{"const":"message"}"#, #""version":{"const":1}"#,
            #""delta":{"type":"string","description":"Text to append"}"#,
            #""author":{"type":"string","description":"Who wrote it"}"#, #""extra":{"description":"Anything"}"#,
        ]
        #expect(
            declaration.jsonSchema.description
                == #"{"type":"object","properties":{"# + properties.joined(separator: ",")
                + #"},"required":["type","version","delta","extra"],"description":"A part of the answer"}"#)
        #expect(
            EventDeclaration("clear", "The screen was cleared").jsonSchema.description
                == #"{"type":"object","properties":{"type":{"const":"clear"}},"required":["type"],"#
                + #""description":"The screen was cleared"}"#)
    }

    @Test("Events fit their declaration, and other lines do not")
    func problems() {
        let declared = [Self.piece.declaration, EventDeclaration("message", "An end", [])]
        for event in [Self.piece.event(Piece(text: "Hi")), ActionEvent("message")] {
            #expect(declared.problems(in: event.json).isEmpty)
        }
        #expect(declared.problems(in: ["type": "surprise"]) == ["there is no event surprise"])
        #expect(declared.problems(in: 1) == ["there is no event "])
        let wrong: [JSON] = [
            ["type": "message", "delta": "Hi"],
            ["type": "message", "version": 2, "delta": "Hi", "extra": 1],
            ["type": "message", "version": 1, "delta": "Hi", "extra": 1, "more": 1],
        ]
        for line in wrong { #expect(!declared.problems(in: line).isEmpty, "\(line.text())") }
    }

    @Test("An action that declares events is a stream, and another one is none")
    func action() {
        let action = Action("demo.a", "A", .reads) { _ in Nothing() }
        #expect(action.events == nil && !action.isStreaming)
        let declaring = action.streaming([Self.piece.declaration])
        #expect(declaring.isStreaming && declaring.events == [Self.piece.declaration])
    }
}
