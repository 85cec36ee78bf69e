import FileKit
import Glibc
import HTTPCore
import HTTPTesting
import JSON
import Synchronization
import TerminalTesting
import Testing

@Suite("A conversation in the shell", .serialized, .enabled(if: TmuxPane.isInstalled), .timeLimit(.minutes(10)))
struct ShellConversationTests {
    /// What was said in the newest conversation, as the roles.
    private func messages(_ home: ShellHome) async throws -> [(role: String, text: String)] {
        let list = try await home.martlet("chat", "list", "--json").json()
        let id = try #require(list.array?.first?["id"]?.string)
        let shown = try await home.martlet("chat", "show", id, "--json").json()
        return (shown["messages"]?.array ?? []).map { ($0["role"]?.string ?? "", $0["text"]?.string ?? "") }
    }

    @Test("A message that is written is sent, and the answer appears")
    func answered() async throws {
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            let pane = try await home.pane("shell chat.conversation")
            try await home.composer(pane)
            try pane.type("What can you do")
            try await pane.screen(with: "› What can you do")
            try pane.press("Enter")
            try await pane.screen { rows in
                rows.contains { $0.contains(/messages +4/) } && rows.contains { $0.contains("Write a message") }
            }
            let said = try await messages(home)
            #expect(said.map(\.role) == ["user", "assistant", "user", "assistant"])
            #expect(said[2].text == "What can you do")
            // The beginning of the answer is above.
            try pane.press("Escape")
            try pane.press("Home")
            try await pane.screen { rows in rows.contains { $0.contains("I cannot do that") } }
        }
    }

    /// Goes into the composer.
    private func write(_ session: ShellSession) throws {
        let hints = try session.rows { rows in
            rows.contains { $0.contains("i write") || $0.contains("Return send") }
        }.last
        if hints?.contains("i write") == true { session.type("i") }
        try session.rows { rows in rows.contains { $0.contains("Return send") } }
    }

    // MARK: Questions

    /// Asks the model for a file, so that it asks whether it may write one.
    private func askForFile(_ home: ShellHome, _ pane: TmuxPane) async throws {
        try await home.composer(pane)
        try pane.type("create NOTES.md with \"hi\"")
        try await pane.screen(with: "› create NOTES.md")
        try pane.press("Enter")
        try await pane.screen(with: "Return answers")
    }

    @Test("A question grants nothing by itself: its default is No, and the file is not written")
    func defaultIsNo() async throws {
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            let pane = try await home.pane("shell chat.conversation")
            try await askForFile(home, pane)
            #expect(try pane.screen().contains { $0.contains(/▸ \d  No\b/) })
            try pane.press("Enter")
            try await pane.screen(without: "─ Question ─")
            try await home.wait("the model has answered") { try await messages(home).count >= 4 }
            #expect(!Files.exists("\(home.path)/NOTES.md"))
        }
    }

    @Test("A question that Esc has put off is opened again with A, and a yes is carried out")
    func postponed() async throws {
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            let pane = try await home.pane("shell chat.conversation")
            try await askForFile(home, pane)
            try pane.press("Escape")
            try await pane.screen(without: "─ Question ─")
            #expect(!Files.exists("\(home.path)/NOTES.md"))
            // Out of the composer, where A is a letter.
            try await pane.screen(with: "Return send")
            try pane.press("Escape")
            try await pane.screen(without: "Return send")
            try pane.press("A")
            try await pane.screen(with: "Return answers")
            try pane.press("y")
            try await pane.screen { rows in rows.contains { $0.contains(/▸ \d  Yes, this once/) } }
            #expect(!Files.exists("\(home.path)/NOTES.md"))
            try pane.press("Enter")
            try await home.wait("the file is written") { Files.exists("\(home.path)/NOTES.md") }
        }
    }

    @Test("Case 57: Keys that are typed when a question appears do not answer it, and are not lost")
    func typedAtOnce() async throws {
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            let rows = try await home.session { session in
                try session.open("shell chat.conversation")
                try write(session)
                session.type("create NOTES.md with \"hi\"\r")
                try session.output(upTo: "─ Question ")
                session.type("yes")
                return try session.rows { rows in rows.contains { $0.contains("Return answers") } }
            }
            #expect(rows.contains { $0.contains(/▸ \d  No\b/) }, "\(rows.joined(separator: "\n"))")
            #expect(rows.contains { $0.contains("› yes") }, "\(rows.joined(separator: "\n"))")
            #expect(!Files.exists("\(home.path)/NOTES.md"))
        }
    }

    // MARK: Typing ahead

    @Test("A second message that is sent before the answer waits, and is sent after it")
    func typedAhead() async throws {
        let isOpen = Atomic(true)
        let isWaiting = Atomic(false)
        try await ScriptedServer.run({ connection in
            let request = try connection.receiveRequest()
            guard request.method == "POST" else {
                return try connection.answer(200, ["Connection": "close"], #"{"data":[{"id":"small-1"}]}"#)
            }
            let asked = (try JSON(parsing: request.body)["messages"]?.array ?? []).count { $0["role"] == "user" }
            isWaiting.store(true, ordering: .sequentiallyConsistent)
            while !isOpen.load(ordering: .sequentiallyConsistent) { poll(nil, 0, 10) }
            try connection.beginEvents()
            let answer = #"{"choices":[{"index":0,"delta":{"content":"Answer \#(asked)."},"finish_reason":"stop"}]}"#
            try connection.send("data: \(answer)\n\ndata: [DONE]\n\n")
        }) { server in
            try await ShellHome.with { home in
                let variables = [
                    "OPENAI_BASE_URL": "http://127.0.0.1:\(server.port)/v1", "OPENAI_API_KEY": "sk-test-0123456789",
                ]
                let first = try await Program.martlet.run(
                    ["ask", "-m", "openai/small-1", "one"], home: home.path, adding: variables)
                try #require(first.code == 0, "\(first.errors)")
                isWaiting.store(false, ordering: .sequentiallyConsistent)
                isOpen.store(false, ordering: .sequentiallyConsistent)
                defer { isOpen.store(true, ordering: .sequentiallyConsistent) }
                let pane = try await home.pane("shell chat.conversation", adding: variables)
                try await home.composer(pane)
                try pane.type("two")
                try pane.press("Enter")
                try await home.wait("the model is asked") { isWaiting.load(ordering: .sequentiallyConsistent) }
                try pane.type("three")
                try pane.press("Enter")
                try await pane.screen(with: "1 waiting")
                isOpen.store(true, ordering: .sequentiallyConsistent)
                try await pane.screen(with: "Answer 3.")
                try await pane.screen(without: "1 waiting")
                let said = try await messages(home).map { "\($0.role): \($0.text)" }
                #expect(
                    said == [
                        "user: one", "assistant: Answer 1.", "user: two", "assistant: Answer 2.", "user: three",
                        "assistant: Answer 3.",
                    ])
            }
        }
    }

    // MARK: Pastes

    @Test(
        "Case 17: A large paste is shown as one token or refused with the reason, and the next key is painted",
        .enabled(if: PyteScreen.isInstalled),
        arguments: [(5_000, "[Pasted text, 5,00"), (27_000, "the limit is 256 KB")])
    func largePaste(lines: Int, shown: String) async throws {
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            let (before, after) = try await home.session { session in
                try session.open("shell chat.conversation")
                try write(session)
                let text = String(repeating: "line of the text that is pasted here\n", count: lines)
                session.type("\u{1B}[200~\(text)\u{1B}[201~")
                let before = try session.rows { rows in rows.contains { $0.contains(shown) } }
                session.type("Ω")
                return (before, try session.rows { rows in rows.contains { $0.contains("Ω") } })
            }
            #expect(before.count { $0.contains(shown) } == 1, "\(before.joined(separator: "\n"))")
            #expect(after.count { $0.contains("pasted here") } == 0, "\(after.joined(separator: "\n"))")
        }
    }

    @Test("A conversation that is opened is written to at once, every time")
    func focused() async throws {
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            for _ in 0..<6 {
                let pane = try await home.pane("shell chat.conversation")
                let rows = try await pane.screen(with: "Write a message")
                #expect(rows.last?.contains("Return send") == true, "\(rows.last ?? "")")
            }
        }
    }

    @Test(
        "Case 18: A paste with sequences, controls and an end in its middle is text, and sends nothing",
        .enabled(if: PyteScreen.isInstalled))
    func hostilePaste() async throws {
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            let (rows, output) = try await home.session { session in
                try session.open("shell chat.conversation")
                try write(session)
                session.type(
                    "\u{1B}[200~one\u{1B}[47;13Htwo\u{202E}\u{2066}three\u{1B}[201~four\rfive\u{1B}]52;c;aGk=\u{07}six"
                        + "\u{9B}31mseven\u{200B}\u{1B}[201~")
                let rows = try session.rows { rows in rows.contains { $0.contains("seven") } }
                return (rows, try session.transcript(afterPauseOf: 1_000))
            }
            let strangers = TerminalOutput(output).strangers
            #expect(strangers.isEmpty, "\(strangers)")
            #expect(!TerminalOutput(output).sequences.contains { $0.contains("47;13") || $0.contains("]52") })
            #expect(rows.contains { $0.contains("one") && $0.contains("two") && $0.contains("three") })
            #expect(try await messages(home).count == 2, "the paste was sent")
        }
    }
}
