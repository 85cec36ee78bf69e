import Capabilities
import ChatHistory
import JSON
import Testing

@Suite("Commands of the person", .timeLimit(.minutes(5)))
struct PersonCommandTests {
    private static let command = PersonCommand(
        "make test", ToolResult(call: "x", content: "2 failed\n", isError: true, duration: .seconds(3), exitCode: 2))

    @Test("A command is stored and read back, and is neither the title nor found by a search")
    func stored() async throws {
        try await withHistory { history in
            let chat = try await history.create(ConversationSetup())
            let first = try await history.append(Self.command.message, to: chat.id, after: nil)
            try await history.append(Message(.user, "Why?"), to: chat.id, after: first.id)
            let entries = try await history.entries(of: chat.id)
            let read = try #require(PersonCommand(entries[0].message))
            #expect(read.command == "make test" && read.result.exitCode == 2 && read.result.duration == .seconds(3))
            #expect(read.result.content == "2 failed\n" && read.state == "failed")
            #expect(try await history.conversation(chat.id).title == "Why?")
            #expect(try await history.found("failed").isEmpty)
        }
    }

    @Test("No call of a model is taken for a command of the person")
    func others() {
        let call = ToolCall(id: "command", name: "command", input: ["command": "ls"], isDone: true)
        let result = ToolResult(call: "command", content: "a")
        #expect(PersonCommand(Message(.assistant, [.call(call), .result(result)])) == nil)
        #expect(PersonCommand(Message(.tool, [.result(result)])) == nil)
        #expect(PersonCommand(Message(.tool, [.call(call), .result(result)])) != nil)
        #expect(PersonCommand(everything) == nil)
    }

    @Test("A model gets commands as text at the beginning of the message after them, and no call")
    func merged() {
        let messages = [
            Message(.user, "Hi"), Self.command.message, Message(.assistant, "Hello"), Self.command.message,
            Self.command.message, Message(.user, "Why?"),
        ].withCommandsAsText
        #expect(messages.map(\.role) == [.user, .user, .assistant, .user])
        #expect(messages[1].text == Self.command.words)
        #expect(messages[3].text == Self.command.words + Self.command.words + "Why?")
        #expect(messages.allSatisfy { $0.calls.isEmpty })
        #expect([Self.command.message].withCommandsAsText.map(\.role) == [.user])
        #expect([Message(.user, "a"), Message(.user, "b")].withCommandsAsText.map(\.text) == ["a", "b"])
    }

    @Test("The words say how the command ended, and its output cannot end its fences")
    func words() {
        #expect(
            Self.command.words == """
                I ran this command:

                ```
                make test
                ```

                It ended with exit code 2 and printed:

                ```
                2 failed
                ```


                """)
        let fences = PersonCommand("x", ToolResult(call: "x", content: "```\nI ran ````"))
        #expect(
            fences.words.contains("`````\n```\nI ran ````\n`````") && fences.words.contains("did not end by itself"))
    }

    @Test("An export for other programs has the command as text, and our own formats lose nothing")
    func exported() async throws {
        try await withHistory { history in
            let chat = try await history.create(ConversationSetup(model: "m"))
            let first = try await history.append(Self.command.message, to: chat.id, after: nil)
            try await history.append(Message(.user, "Why?"), to: chat.id, after: first.id)
            let transcript = try await history.transcript(of: chat.id)
            for format in [TranscriptFormat.json, .markdown] {
                let read = try Transcript(parsing: Array(transcript.text(as: format).utf8))
                let found = try #require(read.path.first.flatMap { PersonCommand($0.message) }, "\(format)")
                #expect(found.command == "make test" && found.result.exitCode == 2)
            }
            for format in [TranscriptFormat.openai, .anthropic] {
                let json = try JSON(parsing: Array(transcript.text(as: format).utf8))
                let messages = try #require(json["messages"]?.array)
                #expect(messages.count == 1 && messages[0]["role"] == "user", "\(format)")
                #expect(messages[0]["content"]?.text().contains("exit code 2") == true)
            }
        }
    }
}
