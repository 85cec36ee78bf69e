import TerminalTesting
import Testing

@testable import TerminalKit

extension OneTerminal {
    /// In a real terminal emulator.
    @Suite(.enabled(if: TmuxPane.isInstalled, "needs tmux"), .timeLimit(.minutes(5))) struct ComposerInTmuxTests {
        @Test("A text of several lines is edited and drawn at 20 columns")
        func narrow() async throws {
            let pane = try TmuxPane(columns: 20, rows: 8)
            async let answer = Composer(path: pane.path, level: .ansi256).read(
                prompt: StyledText("you ›", Style(bold: true)) + " ", history: ["earlier words"])
            _ = try await pane.lines(until: ["you ›"])
            try pane.press("-l 'a sentence that is longer'")
            _ = try await pane.lines(until: ["you › a sentence th", "  at is longer"])
            try pane.press("M-Enter")
            try pane.press("-l '漢字 👍'")
            _ = try await pane.lines(until: ["you › a sentence th", "  at is longer", "  漢字 👍"])
            try pane.press("Left BSpace C-a x C-e")
            _ = try await pane.lines(until: ["you › a sentence th", "  at is longer", "  x漢字👍"])
            try pane.press("Up C-k Enter")
            #expect(try await answer == "a sente\nx漢字👍")
            #expect(try pane.lines() == ["you › a sente", "  x漢字👍"])
        }

        @Test("A paste keeps its lines, cannot control the editor, and does not submit")
        func paste() async throws {
            let pane = try TmuxPane()
            async let answer = Composer(path: pane.path).read(prompt: "> ")
            _ = try await pane.lines(until: [">"])
            try pane.paste("one\n\u{1B}[2Jtwo\n")
            _ = try await pane.lines(until: ["> one", "  ␛[2Jtwo"])
            try pane.press("-l 'end'")
            _ = try await pane.lines(until: ["> one", "  ␛[2Jtwo", "  end"])
            try pane.press("Enter")
            #expect(try await answer == "one\n␛[2Jtwo\nend")
        }

        @Test("History, search and completion show their texts and remove them again")
        func menus() async throws {
            let pane = try TmuxPane()
            async let answer = Composer(path: pane.path, level: .ansi16).read(
                prompt: "> ", history: ["first", "second"], completions: ["/help", "/history"])
            _ = try await pane.lines(until: [">"])
            try pane.press("Up Up")
            _ = try await pane.lines(until: ["> first"])
            try pane.press("C-r s e")
            _ = try await pane.lines(until: ["search se: second"])
            try pane.press("C-g")
            _ = try await pane.lines(until: ["> first"])
            try pane.press("C-u / h Tab")
            _ = try await pane.lines(until: ["> /h", "/help  /history"])
            try pane.press("e Tab")
            _ = try await pane.lines(until: ["> /help"])
            try pane.press("C-c")
            _ = try await pane.lines(until: [">", "press Ctrl-C again to quit"])
            try pane.press("x Enter")
            #expect(try await answer == "x")
            #expect(try pane.lines() == ["> x"])
        }

        @Test("A window that becomes narrow and wide again leaves no traces")
        func resized() async throws {
            let pane = try TmuxPane(columns: 50, rows: 10)
            pane.terminal.write("before\r\n")
            async let answer = Composer(path: pane.path).read(prompt: "> ")
            _ = try await pane.lines(until: ["before", ">"])
            try pane.press("-l 'abcdefghijklmnopqrstuvwxyz0123456789'")
            _ = try await pane.lines(until: ["before", "> abcdefghijklmnopqrstuvwxyz0123456789"])
            try await pane.resize(columns: 20, rows: 10)
            // The terminal does not control this process, so the signal of its change goes to another one.
            try pane.press("!")
            _ = try await pane.lines(until: ["before", "> abcdefghijklmnopq", "  rstuvwxyz01234567", "  89!"])
            try await pane.resize(columns: 50, rows: 10)
            try pane.press("!")
            _ = try await pane.lines(until: ["before", "> abcdefghijklmnopqrstuvwxyz0123456789!!"])
            try pane.press("Enter")
            #expect(try await answer == "abcdefghijklmnopqrstuvwxyz0123456789!!")
        }
    }
}
