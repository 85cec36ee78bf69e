import Capabilities
import CoreTesting
import FileKit
import HostTesting
import JSON
import Registry
import Screens
import Testing

@testable import Chat

@Suite("Pictures of conversations", .timeLimit(.minutes(5)))
struct PictureTests {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// A conversation with two pictures, and one without any.
    private func withPictures(_ body: (inout Desk, _ id: JSON, _ bare: JSON) async throws -> Void) async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B"), Answers.say("C")) { desk in
            let bare = try #require(try await desk.say("nothing")["session_id"])
            try Files.writeAtomically(Self.signature + [1], to: "\(desk.folder)/one.png")
            try Files.writeAtomically(Array("GIF89a".utf8), to: "\(desk.folder)/two.gif")
            let id = try #require(
                try await desk.run(
                    "chat.send", ["message": "first", "file": [.string("\(desk.folder)/one.png")]])["session_id"])
            _ = try await desk.run(
                "chat.send",
                ["message": "second", "conversation": id, "file": [.string("\(desk.folder)/two.gif")]])
            try await body(&desk, id, bare)
        }
    }

    @Test("The newest picture is handed over, or the one with a number, and the result says how to save it")
    func shown() async throws {
        try await withPictures { desk, id, _ in
            let newest = try await desk.run("chat.picture", ["conversation": id])
            let events = newest.output.events.compactMap { Picture($0) }
            #expect(events.map(\.name) == ["two.gif"] && events[0].bytes == Array("GIF89a".utf8))
            #expect(newest.json.string?.contains("two.gif, image/gif") == true)
            let other = try await desk.run("chat.picture", ["conversation": id, "number": 2])
            let picture = try #require(other.output.events.compactMap { Picture($0) }.first)
            #expect(picture.mediaType == "image/png" && picture.bytes == Self.signature + [1])
            #expect(picture.saving.contains("--number 2 --save FILE"))
        }
    }

    @Test("Pictures that tools gave count too, other files and texts do not")
    func found() {
        let (sent, given) = (
            Attachment(name: "a.png", mediaType: "image/png", bytes: [1]),
            Attachment(name: "image", mediaType: "image/png", bytes: [2])
        )
        let sound = Attachment(name: "audio", mediaType: "audio/wav", bytes: [3])
        let message = Message(
            .tool,
            [
                .attachment(sent), .attachment(sound), .text("b"),
                .result(ToolResult(call: "1", parts: [.text("c"), .media(sound), .media(given)])),
            ])
        #expect(message.pictures == [sent, given])
    }

    @Test("It is saved to a file instead, and what is not there is told")
    func saved() async throws {
        try await withPictures { desk, id, bare in
            let path = "\(desk.folder)/saved.png"
            let done = try await desk.run(
                "chat.picture", ["conversation": id, "number": 2, "save": .string(path)])
            #expect(try Files.read(path, limit: 99) == Self.signature + [1])
            #expect(done.output.events.isEmpty && done.json.string?.contains("saved.png") == true)
            let third = try await desk.attempt("chat.picture", ["conversation": id, "number": 3])
            #expect(third.failure?.message == "there is no picture 3 in this conversation, which has 2")
            let none = try await desk.attempt("chat.picture", ["conversation": bare])
            #expect(none.failure?.code == "chat.no-picture")
        }
    }
}
