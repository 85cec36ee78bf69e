import Capabilities
import Testing

@testable import TerminalKit

@Suite struct MarkdownTableTests {
    private static let table = """
        | Name | Size | Note |
        |:-----|-----:|:----:|
        | 漢字 | 7 | *mid* |
        | 👨‍👩‍👧‍👦 fam | 1000 | a note that is longer than its column |
        """

    @Test("Columns are aligned by the columns that their text takes")
    func aligned() {
        #expect(
            drawn(Self.table, 80) == [
                "Name   │ Size │                 Note",
                "───────┼──────┼──────────────────────────────────────",
                "漢字   │    7 │                 *mid*",
                "👨‍👩‍👧‍👦 fam │ 1000 │ a note that is longer than its column",
            ])
    }

    @Test("A column that is too wide wraps its cells")
    func wrapped() {
        #expect(
            drawn(Self.table, 40) == [
                "Name   │ Size │           Note",
                "───────┼──────┼─────────────────────────",
                "漢字   │    7 │          *mid*",
                "👨‍👩‍👧‍👦 fam │ 1000 │  a note that is longer",
                "       │      │     than its column",
            ])
    }

    @Test("Rows become records if columns would be too narrow")
    func records() {
        #expect(
            drawn(Self.table, 20) == [
                "Name: 漢字", "Size: 7", "Note: *mid*", "────────", "Name: 👨‍👩‍👧‍👦 fam", "Size: 1000", "Note: a note that is",
                "longer than its", "column",
            ])
        #expect(drawn("|a|b|\n|-|-|", 20) == ["a │ b", "──┼──"])
    }

    @Test("Text that is not a cell by the rules stays in the last cell")
    func excess() {
        #expect(drawn("|a|b|\n|-|-|\n| x | `y | z` |", 40) == ["a │ b", "──┼────────", "x │ `y | z`"])
        #expect(drawn("a|b\n-|-\n1|2|3\n4\n5|", 40) == ["a │ b", "──┼────", "1 │ 2|3", "4 │", "5 │"])
        #expect(drawn("> |a|\n> |-|\n> |1|2|", 40) == ["│ a", "│ ───", "│ 1|2"])
        #expect(drawn("|a|\n|-|\n|1\\|2|", 40) == ["a", "───", "1|2"])
    }

    @Test("Titles are bold, and the lines between have the border colour")
    func styles() {
        let lines = Markdown.render("|a|b|\n|-|-|\n|1|2|", width: 40, level: .ansi16)
        #expect(lines[0].runs.map(\.style) == [Style(bold: true), Style(.border), Style(bold: true)])
        #expect(lines[1].runs.map(\.style) == [Style(.border)])
    }

    @Test("A table of dozens of columns stays text")
    func wideTable() {
        let text = String(repeating: "|a", count: 50) + "|\n" + String(repeating: "|-", count: 50) + "|\n|1|2|"
        let lines = drawn(text, 80)
        #expect(lines.joined().filter { $0 == "|" }.count == 105)
        #expect(!lines.joined().contains("│"))
    }
}
