import Capabilities
import JSON
import Screens
import Testing

@Suite("Composed texts") struct ComposedTextTests {
    private let composer = Composer(
        "chat.send", "message", files: "file", command: Composer.Target("chat.run", "command"),
        arguments: ["conversation": "7f3q"], hint: "Write")

    @Test("A text is a message, and one that begins with the mark a command with the same other arguments")
    func targets() {
        let message = ComposedText("hi", seen: "hi", for: composer)
        #expect(message.target.action == "chat.send" && !message.isCommand)
        #expect(message.arguments == ["conversation": "7f3q", "message": "hi"])
        let command = ComposedText("!make @test", seen: "!make @test", for: composer)
        #expect(command.isCommand && command.files == nil)
        #expect(command.arguments == ["conversation": "7f3q", "command": "make @test"])
        #expect(ComposedText("! \t", seen: "! \t", for: composer).isBlank)
        #expect(!ComposedText(" !make", seen: " !make", for: composer).isCommand)
        let plain = Composer("notes.add", "text", hint: "Write")
        let other = ComposedText("!make @a", seen: "!make @a", for: plain)
        #expect(!other.isCommand && other.files == nil && other.arguments == ["text": "!make @a"])
    }

    @Test("What is not seen, as a long paste, neither names files nor begins a command")
    func unseen() {
        let text = ComposedText("!rm @a", seen: "\u{E000}", for: composer)
        #expect(!text.isCommand && text.files == nil && text.arguments["message"] == "!rm @a")
    }

    @Test("Only files that are there are added, once each, after those that are given")
    func files() throws {
        let text = "see @a.txt, @gone and @a.txt; not @-"
        let files = try #require(ComposedText(text, seen: text, for: composer).files)
        var told: [String] = []
        let arguments = files.added(to: ["file": ["given"]], telling: { told.append($0) }) { path in
            ["a.txt", "-"].contains(path.shown)
        }
        #expect(arguments["file"] == ["given", "a.txt"] && told == ["attaching a.txt"])
        let none = files.added(to: [:], telling: { told.append($0) }, where: { _ in false })
        #expect(none == [:] && told.count == 1)
    }
}
