import JSON
import Screens
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite struct BesideTests {
    private func text(_ words: String, id: String, title: String? = nil) -> Block {
        Block(.text(RichText(words)), id: id, title: title)
    }

    @Test("Texts of a horizontal stack are beside each other if each has thirty columns")
    func stack() {
        let block = Block.stack(
            [text("left", id: "a", title: "One"), text("right\nmore", id: "b", title: "Two")], .horizontal)
        let wide = PaneScreen(columns: 62, block)
        #expect(
            wide.rows.prefix(3).map { $0.split(separator: " ") } == [["One", "Two"], ["left", "right"], ["more"]])
        #expect(wide.rows[2] == String(repeating: " ", count: 32) + "more")
        let narrow = PaneScreen(columns: 61, rows: 7, block)
        #expect(narrow.rows == ["One", "left", "", "Two", "right", "more", ""])
    }

    @Test("A split has a line between its parts, and its fraction decides their columns")
    func split() {
        let block = Block(.split(Split(text("left", id: "a"), text("right", id: "b"), fraction: 0.25)))
        #expect(PaneScreen(columns: 123, block).rows[0] == "left" + String(repeating: " ", count: 26) + " │ right")
        #expect(PaneScreen(columns: 163, block).rows[0] == "left" + String(repeating: " ", count: 36) + " │ right")
        #expect(PaneScreen(columns: 62, block).rows.prefix(3) == ["left", "", "right"])
        let vertical = Block(.split(Split(text("left", id: "a"), text("right", id: "b"), .vertical)))
        #expect(PaneScreen(columns: 100, vertical).rows.prefix(3) == ["left", "", "right"])
    }

    @Test("What can be selected stays below each other")
    func selectable() {
        let block = Block.stack([.lines(1), .table(["row"])], .horizontal)
        #expect(PaneScreen(columns: 200, block).rows.prefix(4) == ["line 0", "", "NAME", "row"])
    }

    @Test("Stacks inside a horizontal stack are columns, and long lines are wrapped in them")
    func nested() {
        let words = (0..<12).map { "word\($0)" }.joined(separator: " ")
        let block = Block.stack(
            [.stack([text("a", id: "a"), text("b", id: "b")], id: "left"), text(words, id: "right")], .horizontal)
        let rows = PaneScreen(columns: 62, block).rows
        #expect(rows[0].hasPrefix("a ") && rows[2].hasPrefix("b ") && rows[0].contains("word0"))
        #expect(rows.allSatisfy { $0.count <= 62 } && rows.joined().contains("word11"))
    }

    @Test("Links inside are offered")
    func links() {
        let retry = Link.action("x.retry", "Try again")
        let block = Block.stack(
            [
                Block(.text("a"), id: "a", links: [.action("x.a", "A")]),
                Block(.placeholder(Placeholder(.failed, "no", retry: retry)), id: "b"),
            ], .horizontal)
        #expect(Set(PaneScreen(columns: 100, block).pane.offers.map(\.link.title)) == ["A", "Try again"])
    }

    @Test("Joined rows are searched")
    func search() {
        let block = Block.stack([.lines(50, "left", id: "a"), .lines(50, "right", id: "b")], .horizontal)
        var screen = PaneScreen(columns: 80, block)
        #expect(screen.act { $0.find("right 33") } && screen.marked == ["right 33"])
    }
}

@Suite struct TextSectionTests {
    @Test("Tabs in code are spaces, and empty lines stay")
    func code() {
        let screen = PaneScreen(Block(.code(Code("if x {\n\ty()\n\n}\r\nend"))))
        #expect(screen.rows == ["if x {", "    y()", "", "}", "end"])
    }

    @Test("A placeholder of several lines has several rows")
    func placeholder() {
        let screen = PaneScreen(Block(.placeholder(Placeholder(.empty, "Nothing.\nDo this."))))
        #expect(screen.rows.prefix(2) == ["Nothing.", "Do this."])
    }

    @Test("A Markdown document that grows looks like the whole one, and a different one like itself")
    func markdown() {
        let text = "# Title\n\nwords that go on\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n"
        var screen = PaneScreen(rows: 12)
        for end in text.indices {
            screen.show(Block(.markdown(MarkdownText(String(text[..<end]), isOpen: true))))
        }
        screen.show(Block(.markdown(MarkdownText(text))))
        #expect(screen.rows == PaneScreen(rows: 12, Block(.markdown(MarkdownText(text)))).rows)
        screen.show(Block(.markdown(MarkdownText("other"))))
        #expect(screen.rows[0] == "other" && screen.rows[1] == "")
    }
}
