import Capabilities
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Testing

@Suite("Attachments", .timeLimit(.minutes(5)))
struct AttachmentTests {
    @Test("Piped input is attached")
    func piped() async throws {
        try await Desk.run(answers: Answers.say("Fine"), Answers.say("Short")) { desk in
            try await desk.say("Review this", ["input": "+ let a = 1\n"])
            #expect(desk.asked[0].last == "user: Review this\n\n+ let a = 1\n")
            try await desk.run("chat.send", ["input": "only this"])
            #expect(desk.asked[1].last == "user: only this")
        }
    }

    @Test("Files are attached: a text with its name, an image as an image")
    func files() async throws {
        try await Desk.run(answers: Answers.say("Seen")) { desk in
            let text = try desk.write(Array("alpha".utf8), to: "notes.txt")
            let image = try desk.write([0x89, 0x50, 0x4E, 0x47, 1, 2, 3], to: "picture.txt")
            try await desk.say("Look", ["file": [.string(text), .string(image)]])
            let parts = desk.asked[0].json["messages"]?.array?.last?["content"]?.array ?? []
            let words = parts.compactMap { $0["text"]?.string }.joined()
            #expect(words.hasPrefix("Look") && words.contains("notes.txt") && words.contains("alpha"))
            let address = parts.compactMap { $0["image_url"]?["url"]?.string }.first
            #expect(address == "data:image/png;base64,iVBORwECAw==")
        }
    }

    @Test("A file that no model can read is refused", arguments: [[0, 1, 2], [0xFF, 0xFE, 0x20]] as [[UInt8]])
    func unreadable(bytes: [UInt8]) async throws {
        try await Desk.run(answers: Answers.say("Seen")) { desk in
            let name = try desk.write(bytes, to: "thing.bin")
            let done = try await desk.attempt("chat.send", ["message": "Look", "file": [.string(name)]])
            #expect(done.failure?.code == "chat.attachment" && done.exit == .usage)
            #expect(done.failure?.message.contains("thing.bin") == true)
            #expect(desk.asked.isEmpty)
            #expect(try await desk.run("chat.list").json == [])
        }
    }

    @Test("A schema can be given for the answer")
    func schema() async throws {
        try await Desk.run(answers: Answers.say(#"{"city":"Bern"}"#)) { desk in
            let name = try desk.write(
                Array(#"{"title": "A City", "type": "object", "properties": {"city": {"type": "string"}}}"#.utf8),
                to: "city.json")
            let done = try await desk.say("Where?", ["schema": .string(name)])
            #expect(done["result"] == #"{"city":"Bern"}"#)
            let format = desk.asked[0].json["response_format"]
            #expect(format?["type"] == "json_schema")
            #expect(format?["json_schema"]?["name"] == "a_city")
            #expect(format?["json_schema"]?["schema"]?["properties"]?["city"]?["type"] == "string")
        }
    }

    @Test("An invalid schema is refused before any model is asked")
    func badSchema() async throws {
        try await Desk.run(answers: Answers.say("x")) { desk in
            let name = try desk.write(Array("{\"type\": ".utf8), to: "city.json")
            let done = try await desk.attempt("chat.send", ["message": "Where?", "schema": .string(name)])
            #expect(done.exit == .usage)
            #expect(done.failure?.message.contains("city.json") == true)
            #expect(desk.asked.isEmpty)
        }
    }
}
