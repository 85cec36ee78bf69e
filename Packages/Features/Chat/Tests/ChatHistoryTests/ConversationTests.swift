import Capabilities
import ChatHistory
import JSON
import Testing

@Suite("Conversations", .timeLimit(.minutes(5)))
struct ConversationTests {
    @Test("A conversation keeps its initial setup")
    func setup() async throws {
        try await withHistory { history in
            let setup = ConversationSetup(
                provider: "openai", model: "m", server: "lab", system: "Be brief", options: ["temperature": 0.5],
                tools: ["rules": []])
            let made = try await history.create(setup)
            #expect(made.setup == setup && made.title == "" && made.messages == 0 && made.head == nil)
            #expect(made.id.rawValue.hasPrefix("20261121-093001-") && made.id.tag.count == 8)
            let switched = try await history.switchModel(made.id, provider: "anthropic", model: "n")
            #expect(switched.setup.model == "n" && switched.setup.provider == "anthropic")
            #expect(switched.setup.options == setup.options && switched.setup.system == "Be brief")
        }
    }

    @Test(
        "The title is the beginning of the first message, on one line, cut between characters",
        arguments: [
            ("Hello", "Hello"), ("  two\n\n lines\t", "two lines"), ("\u{1B}[31mred", "[31mred"),
            (String(repeating: "ab ", count: 30), "ab ab ab ab ab ab ab ab ab ab ab ab ab a"),
            (String(repeating: "👩‍👩‍👧‍👦", count: 50), String(repeating: "👩‍👩‍👧‍👦", count: 40)),
            (String(repeating: "é", count: 41), String(repeating: "é", count: 40)), ("日本語のタイトル", "日本語のタイトル"),
            ("אבג שלום", "אבג שלום"),
        ])
    func title(text: String, title: String) async throws {
        try await withHistory { history in
            let chat = try await history.talk(text, "An answer")
            #expect(chat.title == title)
            #expect(chat.preview == "An answer" && chat.messages == 2)
        }
    }

    @Test("A character with a thousand accents makes no endless title, and a lone picture provides its name")
    func oddTitles() async throws {
        try await withHistory { history in
            let long = try await history.talk("a" + String(repeating: "\u{301}", count: 100_000))
            #expect(
                long.title.unicodeScalars.count < 1000
                    && long.title.unicodeScalars.starts(with: "a\u{301}".unicodeScalars))
            let chat = try await history.create(ConversationSetup())
            let picture = Attachment(name: "cat.png", mediaType: "image/png", bytes: [1])
            try await history.append(Message(.user, [.attachment(picture)]), to: chat.id, after: nil)
            #expect(try await history.conversation(chat.id).title == "cat.png")
        }
    }

    @Test("Text files that are sent along do not get into the title")
    func attachedText() async throws {
        try await withHistory { history in
            let chat = try await history.create(ConversationSetup())
            let parts: [Message.Part] = [.text("What is wrong here?"), .text("notes.md:\nmany lines")]
            try await history.append(Message(.user, parts), to: chat.id, after: nil)
            #expect(try await history.conversation(chat.id).title == "What is wrong here?")
        }
    }

    @Test("A title chosen by the user stays, and an empty one is refused")
    func rename() async throws {
        try await withHistory { history in
            let chat = try await history.create(ConversationSetup(), title: "Mine")
            try await history.append(Message(.user, "Hello"), to: chat.id, after: nil)
            #expect(try await history.conversation(chat.id).title == "Mine")
            #expect(try await history.rename(chat.id, to: "New\nname").title == "New name")
            #expect(try await failure { try await history.rename(chat.id, to: " \n") }.kind == .invalid)
            let missing = try await failure { try await history.rename(ConversationID(rawValue: "x\u{7}"), to: "a") }
            #expect(missing.kind == .notFound && missing.message.contains("x\\u{7}") && missing.exit == .usage)
        }
    }

    @Test("A conversation is found by the beginning of its id or tag if only one matches")
    func prefixes() async throws {
        try await withHistory { history in
            var chats: [Conversation] = []
            for number in 0..<40 { chats.append(try await history.talk("Chat \(number)")) }
            let first = chats[0]
            #expect(try await history.find(first.id.rawValue).id == first.id)
            #expect(try await history.find(first.id.tag).id == first.id)
            #expect(try await history.find(String(first.id.rawValue.prefix(18)).uppercased()).id == first.id)
            let error = try await failure { _ = try await history.find("2026") }
            #expect(error.kind == .ambiguous && error.message.hasSuffix(" and more") && error.exit == .usage)
            #expect(error.message.contains("\(chats[39].id.rawValue) (Chat 39)"), "the newest are offered")
            #expect(try await failure { _ = try await history.find("") }.kind == .notFound)
            for wrong in ["2027", "l", "%", "'", "\u{10FFFF}", "2026\u{0}"] {
                #expect(try await failure { _ = try await history.find(wrong) }.kind == .notFound, "\(wrong)")
            }
            // Forty tags begin with 22 letters.
            let shared = try #require(Dictionary(grouping: chats) { $0.id.tag.prefix(1) }.first { $0.value.count > 1 })
            #expect(try await failure { _ = try await history.find(String(shared.key)) }.kind == .ambiguous)
            for chat in shared.value.dropFirst() { try await history.delete(chat.id) }
            #expect(try await history.find(String(shared.key)).id == shared.value[0].id, "deleted ones do not count")
        }
    }
}
