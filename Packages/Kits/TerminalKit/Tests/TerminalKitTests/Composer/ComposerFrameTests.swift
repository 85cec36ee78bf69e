import CoreTesting
import Testing

@testable import TerminalKit

@Suite struct ComposerFrameTests {
    private func frame(_ keys: String, _ columns: Int, _ rows: Int = 10, completions: [String] = []) -> ComposerFrame {
        ComposerFrame(
            typed(keys, completions: completions).editor, prompt: "> ", size: TerminalSize(columns: columns, rows: rows)
        )
    }

    @Test("Lines are shown below each other, and long ones continue in the next row, before the last column")
    func rows() {
        let short = frame("one\ntwo", 20)
        #expect(short.rows.map(\.plainText) == ["> one", "  two"])
        #expect(short.cursor == .init(row: 1, column: 5))
        let long = frame("0123456789abcdefghijklmnopq", 20)
        #expect(long.rows.map(\.plainText) == ["> 0123456789abcdefg", "  hijklmnopq"])
        #expect(long.cursor == .init(row: 1, column: 12))
        let full = frame("0123456789abcdefg", 20)
        #expect(full.rows.count == 1 && full.cursor == .init(row: 0, column: 19))
    }

    @Test("Wide characters are never cut, and tabs have room")
    func wide() {
        let wide = frame("漢字漢字漢字漢字漢字", 20)
        #expect(wide.rows.map(\.plainText) == ["> 漢字漢字漢字漢字", "  漢字"])
        #expect(wide.cursor == .init(row: 1, column: 6))
        #expect(frame("\u{1B}[200~a\tb\u{1B}[201~", 20).rows.map(\.plainText) == ["> a    b"])
        #expect(frame("👨‍👩‍👧‍👦🇩🇪", 20).cursor.column == 6)
    }

    @Test("A long paste is shown as a few words, at any width", arguments: 8...60)
    func folded(columns: Int) {
        var editor = typed("see ").editor
        _ = editor.receive(.paste(String(repeating: "x\n", count: 2_000)))
        _ = editor.receive(.text("!"))
        let frame = ComposerFrame(editor, prompt: "you › ", size: TerminalSize(columns: columns, rows: 24))
        for row in frame.rows { #expect(row.width < columns) }
        #expect(frame.rows.count <= 3)
        if columns > 40 { #expect(frame.rows.map(\.plainText) == ["you › see [Pasted text, 2,000 lines]!"]) }
        let rest = ComposerFrame(editor.atRest, prompt: "you › ", size: TerminalSize(columns: columns, rows: .max))
        #expect(rest.rows.count <= 3)
    }

    @Test("A text taller than the screen shows the part around the cursor")
    func window() {
        let lines = (0..<30).map { "line \($0)" }.joined(separator: "\n")
        let end = frame(lines, 20, 5)
        #expect(end.rows.map(\.plainText) == (25..<30).map { "  line \($0)" })
        #expect(end.cursor.row == 4)
        let above = frame(lines + String(repeating: "\u{1B}[A", count: 20), 20, 5)
        #expect(above.rows[above.cursor.row].plainText == "  line 9")
        #expect(above.rows.count == 5)
    }

    @Test("Hints are shown below, and give way on a small screen")
    func hints() {
        let words = (0..<40).map { "/word\($0)" }
        let shown = frame("/word\t", 20, 10, completions: words)
        #expect(shown.rows.count == 4 && shown.rows[3].plainText.hasSuffix("…"))
        #expect(shown.cursor.row == 0)
        #expect(frame("/word\t", 20, 3, completions: words).rows.count == 1)
        #expect(frame("a\u{03}", 40).rows.map(\.plainText) == ["> ", "press Ctrl-C again to quit"])
    }

    @Test("No row reaches the last column, at any width", arguments: 8...40)
    func widths(columns: Int) {
        var random = SeededGenerator(seed: UInt64(columns))
        for _ in 0..<20 {
            let text = random.text().replacing("\t", with: " ")
            let frame = ComposerFrame(
                typed(text).editor, prompt: "operator › ", size: TerminalSize(columns: columns, rows: 12))
            for row in frame.rows { #expect(row.width < columns, "seed \(columns): \(row.plainText)") }
        }
    }
}
