import Capabilities
import ChatHistory
import CoreTesting
import JSON
import Testing

@Suite("Export and import", .timeLimit(.minutes(5)))
struct TranscriptTests {
    /// A conversation with every kind of content, and two branches.
    private static func fill(_ history: History) async throws -> Conversation {
        let setup = ConversationSetup(
            provider: "openai", model: "m", server: "lab", system: "Be\nbrief")
        let chat = try await history.create(setup, title: "Weather · 天気")
        let one = try await history.append(Message(.user, "Rain?"), to: chat.id, after: nil)
        let two = try await history.append(everything, to: chat.id, after: one.id, provider: "p", model: "n")
        try await history.append(
            Message(.tool, [.result(ToolResult(call: "c1", content: "wet", duration: .seconds(2)))]), to: chat.id,
            after: two.id)
        try await history.append(Message(.user, "Snow?"), to: chat.id, after: nil, as: .branch)
        let head = try await history.conversation(chat.id).head
        let draft = history.begin(in: chat.id, after: head, provider: "p", model: "n")
        draft.append([
            .began(ChatStart(id: "r", session: "s")), .text("No"),
            .usage(Usage(outputTokens: 1, cost: Cost(nanodollars: 3))),
        ])
        try await draft.fail(TestProblem("cut"))
        try await history.note(
            CallEntry(
                ToolCall(id: "c1", name: "x", input: 1), .done, source: "s", effect: .destroys, decision: "you",
                result: ToolResult(call: "c1", content: "wet"), started: Days.start, ended: Days.start), in: chat.id)
        return try await history.conversation(chat.id)
    }

    @Test("Our own format loses nothing but the server's session: branches, calls, failures and times stay")
    func lossless() async throws {
        try await withHistory { history in
            let chat = try await Self.fill(history)
            let transcript = try await history.transcript(of: chat.id)
            let read = try Transcript(parsing: Array(transcript.text(as: .json).utf8))
            #expect(read.items == transcript.items && read.head == transcript.head && read.setup == transcript.setup)
            #expect(read.calls.map(\.result) == transcript.calls.map(\.result))
            let copy = try await history.add(read)
            #expect(
                copy.id != chat.id && copy.title == chat.title && copy.setup == chat.setup && copy.usage == chat.usage)
            #expect(copy.created == chat.created && copy.updated == chat.updated && copy.messages == chat.messages)
            #expect(copy.preview == chat.preview)
            let second = try await history.transcript(of: copy.id)
            // A session belongs to its conversation: a copy with it would remove it when the copy is deleted.
            #expect(second.items.allSatisfy { $0.start?.session == nil })
            #expect(transcript.items.contains { $0.start?.session == "s" && $0.start?.id == "r" })
            func told(_ transcript: Transcript) throws -> [JSON?] {
                let whole = try JSON(parsing: Array(transcript.text(as: .json).utf8))
                return (whole["messages"]?.array ?? []).map { item in
                    var item = item.object ?? [:]
                    item["start"] = item["start"]?["id"]
                    return .object(item)
                }
            }
            #expect(try told(second) == told(transcript))
            #expect(try !told(second).isEmpty)
            #expect(second.items.count == 5 && second.path.count == 2)
        }
    }

    @Test("An imported document sets no tools or options, and no time in the future")
    func harmless() async throws {
        try await withHistory { history in
            let setup = ConversationSetup(
                system: "Be brief", options: ["tools": true, "temperature": 2], tools: ["rules": [1], "a": 1])
            let first = try await history.create(setup, title: "Evil")
            try await history.append(Message(.user, "Hi"), to: first.id, after: nil)
            let text = try await history.transcript(of: first.id).text(as: .json)
            let year = try #require(text.firstMatch(of: /"(20\d\d)-/)?.output.1)
            let later = text.replacing("\"\(year)-", with: "\"2099-")
            try await history.delete(first.id)
            let evil = try await history.add(try Transcript(parsing: Array(later.utf8)))
            #expect(later.contains("2099-") && evil.setup == ConversationSetup(system: "Be brief"))
            let own = try await history.create(ConversationSetup(), title: "Own")
            try await history.append(Message(.user, "Hello"), to: own.id, after: nil)
            #expect(try await history.list(limit: 1).items.first?.id == own.id)
        }
    }

    @Test("Durations are written in milliseconds, and the first form is still read")
    func durations() async throws {
        try await withHistory { history in
            let chat = try await history.create(ConversationSetup())
            let result = ToolResult(call: "c1", content: "wet", duration: .microseconds(261_560))
            try await history.append(Message(.tool, [.result(result)]), to: chat.id, after: nil)
            let text = try await history.transcript(of: chat.id).text(as: .json)
            let new = "\"duration_ms\": 261.56"
            try #require(text.contains(new), "\(text)")
            for old in [new, "\"duration\": [0, 261560000000000000]"] {
                let read = try Transcript(parsing: Array(text.replacing(new, with: old).utf8))
                #expect(read.items.first?.message.parts == [.result(result)])
            }
        }
    }

    @Test(
        "Markdown keeps roles, texts and calls, whatever the texts contain",
        arguments: [
            "plain", "", "\n", "\n\nblank lines around\n\n", "## User", "## Assistant · m\n## System prompt",
            "\\## User\n\\\\## Tool", "```martlet-call\n{}\n```", "# title\n- Model: x",
            "```swift\n## User\nlet a = 1\n```",
            "CRLF\r\n## User\r\nend", "## Users are not special\n##User", "\u{0}\u{1B}[0m 👩‍👩‍👧 \u{2028}", "trailing \\",
            "## User ", " ## User",
        ])
    func markdown(text: String) throws {
        let messages = [
            Message(.user, text),
            Message(.assistant, [.text(text), .call(ToolCall(id: "1", name: "x", input: [:])), .text(text)]),
            Message(.tool, [.result(ToolResult(call: "1", content: text))]), Message(.system, text),
            Message(.user, text),
        ]
        var setup = ConversationSetup(provider: "p", model: "m", server: "s")
        // A blank system prompt counts as none.
        setup.system = text.isEmpty ? nil : text
        let written = Transcript(title: "A title", setup: setup, messages: messages).text(as: .markdown)
        let read = try Transcript(parsing: Array(written.utf8))
        #expect(read.title == "A title" && read.setup == setup)
        func bare(_ message: Message) -> Message { Message(message.role, message.parts.filter { $0 != .text("") }) }
        #expect(read.path.map(\.message) == messages.map(bare), "\(written)")
        #expect(
            read.text(as: .markdown)
                == Transcript(title: "A title", setup: setup, messages: messages.map(bare)).text(as: .markdown))
    }

    @Test("Markdown has no empty heading and no empty line of facts")
    func nothingEmpty() throws {
        let setup = ConversationSetup(provider: "martlet", model: "", server: nil, system: "")
        let written = Transcript(title: "", setup: setup, messages: [Message(.user, "Hi")]).text(as: .markdown)
        #expect(written.hasPrefix("- Provider: martlet\n\n## User"), "\(written)")
        #expect(!written.contains("Model") && !written.contains("System"))
        #expect(try Transcript(parsing: Array(written.utf8)).path.map(\.message) == [Message(.user, "Hi")])
        let bare = Transcript(title: nil, setup: ConversationSetup(), messages: [Message(.user, "Hi")])
        #expect(bare.text(as: .markdown).hasPrefix("## User"))
    }

    @Test("Random texts of Markdown characters are read back unchanged")
    func randomMarkdown() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "## User", "\n", "\\", "```", "martlet-call", " · ", "## System prompt", "\r", " ", "x", "#", "## Tool · a",
        ]
        for _ in 0..<2000 {
            let texts = (0..<3).map { _ in
                (0..<Int.random(in: 0..<8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                    .joined()
            }
            let messages = texts.map { Message(.user, $0) }
            let written = Transcript(messages: messages).text(as: .markdown)
            let read = try Transcript(parsing: Array(written.utf8), as: .markdown)
            #expect(read.path.map(\.message.text) == texts, "seed \(seed)")
        }
    }

    @Test("Markdown written by a person is read")
    func handwritten() throws {
        let read = try Transcript(parsing: Array("# Plan\r\n## User\r\nWhat now?\n## Assistant\nThis.".utf8))
        #expect(read.title == "Plan")
        #expect(read.path.map(\.message.role) == [.user, .assistant] && read.path[1].message.text == "This.")
    }

    /// Content that both foreign formats can express.
    private static let common = [
        Message(
            .user, [.text("Look"), .attachment(Attachment(name: "image", mediaType: "image/png", bytes: [1, 2, 255]))]),
        Message(
            .assistant,
            [
                .text("I look"), .call(ToolCall(id: "1", name: "a", input: ["x": [1, 2.5, nil]])),
                .call(ToolCall(id: "2", name: "b", input: [:])),
            ]),
        Message(
            .tool, [.result(ToolResult(call: "1", content: "one")), .result(ToolResult(call: "2", content: "two"))]),
        Message(.user, [.text("And?")]), Message(.assistant, "Done"),
    ]

    @Test(
        "The formats of OpenAI and Anthropic are read back unchanged and told apart",
        arguments: [TranscriptFormat.openai, .anthropic])
    func others(format: TranscriptFormat) throws {
        let transcript = Transcript(setup: ConversationSetup(model: "m", system: "Be brief"), messages: Self.common)
        let text = transcript.text(as: format)
        let read = try Transcript(parsing: Array(text.utf8))
        #expect(read.path.map(\.message) == Self.common)
        #expect(read.setup.system == "Be brief" && read.setup.model == "m")
        #expect(read.text(as: format) == text)
    }

    @Test("OpenAI's variants that we do not write are read")
    func openAI() throws {
        let read = try Transcript(
            parsing: Array(
                """
                [{"role":"developer","content":"Dev"},{"role":"user","content":[{"type":"input_text","text":"Hi"},
                {"type":"image_url","image_url":{"url":"https://x/y.png"}},
                {"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AQI="}}]},
                {"role":"assistant","content":null,"refusal":"No","tool_calls":[
                {"id":"1","type":"function","function":{"name":"f","arguments":"{bad"}},
                {"id":"2","type":"function","function":{"name":"g","arguments":""}}]},
                {"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"out"}]}]
                """.utf8))
        #expect(read.setup.system == "Dev")
        let messages = read.path.map(\.message)
        #expect(
            messages[0].parts == [
                .text("Hi"), .text("[image: https://x/y.png]"),
                .attachment(Attachment(name: "a.pdf", mediaType: "application/pdf", bytes: [1, 2])),
            ])
        guard case .malformedCall(let call) = messages[1].parts[1] else { throw TestProblem("\(messages[1])") }
        #expect(call.text == "{bad" && messages[1].parts[2] == .call(ToolCall(id: "2", name: "g", input: [:])))
        #expect(messages[2] == Message(.tool, [.result(ToolResult(call: "1", content: "out"))]))
    }

    @Test("Thoughts with a signature pass through Anthropic's format unchanged")
    func thoughts() throws {
        let message = Message(
            .assistant,
            [.reasoning(Reasoning("Hm", signature: "s")), .reasoning(Reasoning("", sealed: "x")), .text("Yes")])
        let read = try Transcript(parsing: Array(Transcript(messages: [message]).text(as: .anthropic).utf8))
        #expect(read.path.map(\.message) == [message])
    }

    @Test(
        "An invalid document is refused with the place of the problem",
        arguments: [
            (
                #"{"messages":[{"role":"user","content":"a"},{"role":"king"}]}"#,
                "messages.1.role: is an unknown role: 'king'"
            ),
            (
                #"{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{}}]}]}"#,
                "messages.0.tool_calls.0.function.name: is missing"
            ),
            (
                #"{"messages":[{"role":"user","content":[{"type":"smell"}]}]}"#,
                "messages.0.content.0.type: is an unknown kind of content"
            ),
            (
                #"{"messages":[{"role":"user","tool_calls":[{}]}]}"#,
                "messages.0.tool_calls: are only allowed in messages of the assistant"
            ),
            (#"{"messages":[{"role":"tool","content":"x"}]}"#, "messages.0.tool_call_id: is missing"),
            (#"{"messages":7}"#, "messages: needs a list, not an integer"),
            ("[1]", "0: needs an object, not an integer"), ("{}", "messages: is missing"),
            (#"{"system":[{}],"messages":[]}"#, "system.0.text: is missing"),
            (
                #"{"system":"","messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"a","data":"?"}}]}]}"#,
                "messages.0.content.0.source.data: is not valid base64"
            ),
            (#"{"martlet":"conversation","version":2,"messages":[]}"#, "version: is not supported"),
            (
                #"{"martlet":"conversation","version":1,"messages":[{"parent":0,"role":"user","parts":[]}]}"#,
                "messages.0.parent: must be the index of an earlier message"
            ),
            (
                #"{"martlet":"conversation","version":1,"messages":[{"role":"user","parts":[{"type":"x"}]}]}"#,
                "messages.0.parts.0.type: has an unknown type: 'x'"
            ),
            (
                #"{"martlet":"conversation","version":1,"messages":[{"role":"user","parts":[{"type":"attachment","name":"a","media_type":"b","blob":"c"}]}]}"#,
                "messages.0.parts.0.blob: refers to 'c'"
            ),
            (#"{"martlet":"conversation","version":1,"messages":[],"head":0}"#, "head: must be the index of a message"),
            (
                #"{"martlet":"conversation","version":1,"messages":[{"role":"user","parts":[],"usage":{"input_tokens":-1}}]}"#,
                "messages.0.usage.input_tokens: cannot be less than 0"
            ),
            ("{\"messages\":\n [}", "the document is not valid JSON: line 2, column 3"),
            ("Hello", "the Markdown contains no messages"), ("", "contains no messages"),
            ("# t\n\n## User\n\n```martlet-call\n{\n```\n", "line 7 is not valid"),
            ("## User\n```martlet-call\n{}", "line 3 is not valid: the last block does not end with"),
        ])
    func hostile(text: String, place: String) throws {
        let error = try #require(throws: HistoryError.self) { _ = try Transcript(parsing: Array(text.utf8)) }
        #expect(error.kind == .invalid && error.message.contains(place), "\(error.message)")
    }

    @Test("Bytes that are not text and endless nesting are refused")
    func garbage() throws {
        let deep = String(repeating: "[", count: 100_000)
        for bytes in [[0xFF, 0xFE, 0x00], Array(deep.utf8), Array(#"{"messages":"#.utf8) + Array(deep.utf8)] {
            for format in [nil] + TranscriptFormat.allCases.map(Optional.some) {
                #expect(throws: HistoryError.self) { _ = try Transcript(parsing: bytes, as: format) }
            }
        }
        var random = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            var bytes = Array(Transcript(messages: Self.common).text(as: .json).utf8)
            for _ in 0..<3 {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            // It is either read, or refused with our error.
            do { _ = try Transcript(parsing: bytes) } catch { #expect(error.kind == .invalid) }
        }
    }

    @Test("Huge token counts in a document do not crash the program")
    func numbers() async throws {
        try await withHistory { history in
            let item = #"{"role":"assistant","parts":[],"usage":{"input_tokens":9223372036854775807}}"#
            let text = #"{"martlet":"conversation","version":1,"messages":[\#(item),\#(item)]}"#
            let chat = try await history.add(Transcript(parsing: Array(text.utf8)))
            #expect(
                chat.usage.inputTokens == .max && chat.messages == 1, "both are beginnings, and the last one counts")
        }
    }
}
