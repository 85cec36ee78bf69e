import TerminalTesting
import Testing

@testable import TerminalKit

/// In a real terminal emulator.
@Suite(.enabled(if: TmuxPane.isInstalled, "needs tmux"), .timeLimit(.minutes(5))) struct LiveMarkdownInTmuxTests {
    private static let answer = """
        # Answer

        A paragraph with **strong** words that is long enough to be wrapped at any width.

        | Name | Größe |
        |------|------:|
        | 漢字 | 12 |
        | b | 3 |

        - one
        - two 👍

        ```swift
        let x = 1
        ```
        """

    @Test("A streamed answer ends as if it had been drawn at once")
    func streamed() throws {
        let pane = try TmuxPane(columns: 40, rows: 12)
        let terminal = pane.terminal
        var live = LiveMarkdown(level: .ansi256, links: false)
        var now = Duration.zero
        for piece in Self.answer {
            terminal.write(live.append(String(piece), at: now, size: terminal.size()))
            now += .milliseconds(12)
        }
        terminal.write(live.finish(size: terminal.size()))
        let whole = Markdown.render(Self.answer, width: 39, level: .ansi256)
        #expect(try pane.lines() == whole.map { $0.withoutTrailingSpaces.plainText })
    }

    @Test("A window resized in the middle leaves no traces", arguments: [20, 70])
    func resized(columns: Int) async throws {
        let pane = try TmuxPane(columns: 40, rows: 16)
        let terminal = pane.terminal
        var live = LiveMarkdown(level: .ansi256, links: false)
        let start = "First.\n\nA paragraph that has more than one row"
        terminal.write(live.append(start, at: .zero, size: terminal.size()))
        try await pane.resize(columns: columns, rows: 16)
        terminal.write(live.append(" here.\n\nLast.", at: .seconds(1), size: terminal.size()))
        terminal.write(live.finish(size: terminal.size()))
        let rest = Markdown.render(
            "A paragraph that has more than one row here.\n\nLast.", width: columns - 1, level: .ansi256)
        // Rows that tmux moved above the screen when it broke them can no longer be reached.
        let shown = try pane.screen()
        #expect(shown == ["First.", ""] + rest.map(\.plainText))
    }
}
