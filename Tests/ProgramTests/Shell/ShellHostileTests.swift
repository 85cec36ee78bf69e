import FileKit
import TerminalTesting
import Testing

@Suite("Hostile text in the shell", .serialized, .enabled(if: PyteScreen.isInstalled), .timeLimit(.minutes(5)))
struct ShellHostileTests {
    /// Moves the cursor, changes colours and the title, asks, writes to the clipboard, leaves the screen, turns the text.
    private static let escapes =
        "\u{1B}[47;13H\u{1B}[5;45m\u{1B}]0;owned\u{07}\u{1B}]52;c;b3duZWQ=\u{07}\u{1B}[?1049l\u{1B}[6n\u{1B}Powned\u{1B}\\"
        + "\u{1B}_Gowned\u{1B}\\\u{9B}31m\u{9D}0;owned\u{9C}\u{202E}\u{2066}\u{200F}\u{7}\u{8}\u{1B}c"

    /// Goes to all places where the text is shown, and looks at every byte that the program has sent.
    private func look(_ home: ShellHome, _ words: String, keys: [String], until shown: String) async throws {
        let (rows, output) = try await home.session(columns: 120, rows: 40) { session in
            try session.open(words)
            let rows = try session.rows(columns: 120, rows: 40) { rows in rows.contains { $0.contains(shown) } }
            for key in keys {
                session.type(key)
                try session.transcript(afterPauseOf: 600)
            }
            session.type("q")
            _ = try session.outputToPrompt()
            return (rows, try session.transcript(afterPauseOf: 600))
        }
        #expect(rows.contains { $0.contains(shown) })
        let seen = TerminalOutput(output)
        #expect(seen.strangers.isEmpty, "\(words): \(seen.strangers.map(\.debugDescription))")
        // The title of the window says what is seen, in neutral words.
        let titles = seen.sequences.filter { $0.hasPrefix("\u{1B}]0;") || $0.hasPrefix("\u{1B}]2;") }
        // The address of a link is part of it, and was looked at above: visible characters without a control.
        let links = seen.sequences.filter { $0.hasPrefix("\u{1B}]8;") }
        for mark in ["owned", "b3duZWQ", "47;13", "5;45"] {
            let found = seen.sequences.filter { $0.contains(mark) && !titles.contains($0) && !links.contains($0) }
            #expect(found.isEmpty, "\(words): \(found.map(\.debugDescription))")
        }
        #expect(!titles.contains("\u{1B}]0;owned\u{07}"))
        // One screen was entered and left, and nothing was reset.
        #expect(seen.sequences.count { $0 == "\u{1B}[?1049l" } == 1 && !seen.sequences.contains("\u{1B}c"))
    }

    @Test("The title, the question and the answer of a conversation reach the terminal as text")
    func conversation() async throws {
        try await ShellHome.with { home in
            let document = """
                # Mark \(Self.escapes) title

                ## User

                Mark \(Self.escapes) question

                ## Assistant

                Mark \(Self.escapes) answer, **bold \(Self.escapes)**, [link \(Self.escapes)](https://a.example/\(Self.escapes))

                ```\(Self.escapes)
                code \(Self.escapes)
                ```

                | a \(Self.escapes) | b |
                |---|---|
                | \(Self.escapes) | c |
                """
            try write(document, to: "\(home.path)/evil.md")
            try await home.martlet("chat", "import", "evil.md")
            try await look(home, "shell chat.conversations", keys: ["\r", "\u{1B}"], until: "Mark")
            try await look(
                home, "shell chat.conversation", keys: ["g", " ", "/", "mark\r", "n", "?", "\u{1B}"], until: "Mark")
        }
    }

    @Test("The names of bundles, steps and folders, and the output of a program, reach the terminal as text")
    func names() async throws {
        try await ShellHome.with { home in
            // A file name holds no slash and no NUL.
            let name = "Mark\(Self.escapes.replacing("/", with: ""))end"
            // Programs cannot work in the home itself.
            try write("Mark of the output\n\(Self.escapes)\nMark of the end\n", to: "\(home.path)/work/output")
            try write(
                """
                name: mark
                permissions: {effects: writes, programs: [cat]}
                steps: [{id: show, action: shell.run, with: {program: cat, arguments: [output]}}]
                """,
                to: "\(home.path)/work/\(name).yaml")
            let run = try await Program.martlet.shell("cd work && $M run Mark*end.yaml", home: home.path)
            #expect(run.code == 0, "\(run.errors)")
            try Files.makeDirectories("\(home.path)/\(name)")
            try await home.martlet("gateway", "project", "add", name)
            try await look(
                home, "shell runs.recent", keys: ["\r", "o", "\u{1B}", "\u{1B}", "R", "\u{1B}"], until: "mark")
            try await look(home, "shell runs.run", keys: ["\r", "\u{1B}"], until: "Mark")
            try await look(home, "shell runs.log", keys: ["g", "G"], until: "Mark of the output")
            try await look(home, "shell gateway.projects", keys: ["\r", "\u{1B}"], until: "Mark")
        }
    }
}
