import JSON
import TerminalTesting
import Testing

@Suite("The start of the shell", .timeLimit(.minutes(5)))
struct ShellStartTests {
    @Test("The name of the program alone opens the shell on a terminal", .enabled(if: TmuxPane.isInstalled))
    func alone() async throws {
        try await ShellHome.with { home in
            let screen = try await home.pane().screen(with: " 1 Home ")
            #expect(screen.contains { $0.contains("─ Runs ─") } && screen.last?.contains("? help") == true)
        }
    }

    @Test(
        "A screen opens with its arguments, also if its name is all that is given", .enabled(if: TmuxPane.isInstalled))
    func screen() async throws {
        try await ShellHome.with { home in
            for question in ["Hello first", "Hello second"] { try await home.addConversation(question) }
            let list = try await home.martlet("chat", "list", "--json").json().array ?? []
            let oldest = try #require(list.last?["id"]?.string)
            try await home.pane("shell chat.conversation").screen(with: "› Hello second")
            try await home.pane("shell chat.conversation \(oldest)").screen(with: "› Hello first")
        }
    }

    @Test("Help is printed, and no screen, if the input or the output of the terminal is redirected")
    func redirected() async throws {
        try await ShellHome.with { home in
            let run = try await Program.martlet.run([], home: home.path)
            #expect(run.code == 0 && run.output.contains("Usage: martlet"))
            #expect(!(run.output + run.errors).contains("\u{1B}"))
            try await home.session { session in
                for redirection in ["</dev/null", "| cat", "> out; cat out"] {
                    let shown = try session.answer(to: "$M \(redirection)")
                    #expect(
                        shown.contains("Usage: martlet") && shown.hasSuffix("rc=0\(ShellSession.prompt)"), "\(shown)")
                    #expect(!shown.contains("\u{1B}[?1049h"), "\(redirection)")
                }
            }
        }
    }

    @Test("Case 40: Without a terminal, or on one that can do nothing, the shell says so and sends no escape sequence")
    func noTerminal() async throws {
        try await ShellHome.with { home in
            let run = try await Program.martlet.run(["shell"], home: home.path)
            #expect(run.code == 2 && run.output.isEmpty)
            #expect(run.errors.contains("terminal") && !run.errors.contains("\u{1B}"), "\(run.errors)")
            try write("q", to: "\(home.path)/keys")
            try await home.session { session in
                for command in ["$M shell < keys", "$M shell > out", "$M shell > out < keys"] {
                    let shown = try session.answer(to: command)
                    #expect(shown.hasSuffix("rc=2\(ShellSession.prompt)"), "\(command): \(shown)")
                    #expect(!shown.contains("\u{1B}[?"), "\(command): \(shown.debugDescription)")
                }
                #expect(try session.answer(to: "cat out") == "rc=0\(ShellSession.prompt)")
                let dumb = try session.answer(to: "TERM=dumb $M shell")
                #expect(dumb.hasSuffix("rc=2\(ShellSession.prompt)") && dumb.contains("terminal"), "\(dumb)")
                #expect(!dumb.contains("\u{1B}"), "\(dumb.debugDescription)")
            }
        }
    }

    @Test("Without colours no colour is sent, and the selection is still seen", .enabled(if: PyteScreen.isInstalled))
    func noColor() async throws {
        try await ShellHome.with { home in
            for question in ["one", "two"] { try await home.addConversation(question) }
            for variables in [["NO_COLOR": "1"], [:]] {
                let (sequences, cells) = try await home.session(adding: variables) { session in
                    try session.open("shell chat.conversations")
                    try session.rows { rows in rows.contains { $0.contains("martlet-offline") } }
                    session.type("j")
                    let output = try session.transcript(afterPauseOf: 500)
                    return (
                        TerminalOutput(output).sequences, try PyteScreen.show([output], columns: 80, rows: 24)[0]
                    )
                }
                let colors = sequences.filter { Self.hasColor($0) }
                // With colours the same search finds them.
                #expect(colors.isEmpty == (variables["NO_COLOR"] != nil), "\(colors.prefix(5))")
                if variables["NO_COLOR"] != nil {
                    let reversed = cells.indices.filter { row in cells[row].contains { $0.attributes.contains("r") } }
                    // In the first row it is the tab.
                    #expect(reversed.count { $0 > 0 } == 1, "rows \(reversed) are reversed")
                }
            }
        }
    }

    /// Whether a sequence sets a colour.
    private static func hasColor(_ sequence: String) -> Bool {
        guard sequence.hasPrefix("\u{1B}["), sequence.hasSuffix("m"), !sequence.contains(">") else { return false }
        let numbers = sequence.dropFirst(2).dropLast().split(separator: ";").compactMap { Int($0) }
        return numbers.contains { (30...49).contains($0) && $0 != 39 && $0 != 49 || (90...107).contains($0) }
    }

    @Test("A bundle cannot open the shell, not even on a terminal")
    func bundle() async throws {
        try await ShellHome.with { home in
            let bundles = [
                ("", "does not name it"),
                ("permissions: {actions: [shell.open]}\n", "only a person at a terminal opens the shell"),
            ]
            for (permissions, reason) in bundles {
                try write(
                    "name: open\n\(permissions)steps: [{action: shell.open}]\n", to: "\(home.path)/open.yaml")
                try await home.session { session in
                    let shown = try session.answer(to: "$M run open.yaml --color never")
                    #expect(!shown.contains("\u{1B}[?1049h") && !shown.hasSuffix("rc=0\(ShellSession.prompt)"))
                    #expect(shown.contains(reason), "\(shown)")
                }
            }
        }
    }

    @Test("Case 1: A terminal that answers nothing shows the first screen")
    func silent() async throws {
        try await ShellHome.with { home in
            // Nothing says what the background is, so the terminal is asked.
            let shown = try await home.session(adding: ["COLORFGBG": ""]) { session in
                session.type("$M; echo end\n")
                try session.output(upTo: "\n")
                return String(decoding: try session.transcript(afterPauseOf: 2_000), as: UTF8.self)
            }
            #expect(shown.contains("\u{1B}[?1049h") && shown.contains("quit"), "\(shown.suffix(300).debugDescription)")
        }
    }
}
