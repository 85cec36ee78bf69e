import Capabilities
import JSON
import Screens
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite struct PaneSelectionTests {
    private func names(_ range: Range<Int>) -> [String] { range.map { "row \($0)" } }

    @Test("The selected row is kept by its id when rows come before it")
    func added() {
        var screen = PaneScreen(.table(names(0..<20)))
        screen.down(2)
        screen.show(.table(["new 1", "new 2"] + names(0..<20)))
        #expect(screen.selected == "row 2")
        screen.show(.table((0..<50).map { "newer \($0)" } + names(0..<20)))
        #expect(screen.selected == "row 2", "it was seen, so it is seen again")
    }

    @Test("When the list is scrolled, rows that come before do not move what is read")
    func scrolled() {
        var screen = PaneScreen(.table(names(0..<20)))
        screen.down(10)
        let rows = screen.rows
        screen.show(.table(["new 1", "new 2"] + names(0..<20)))
        #expect(screen.rows == rows && screen.selected == "row 10")
        screen.show(.table(names(3..<20)))
        #expect(screen.rows == rows && screen.selected == "row 10")
    }

    @Test("When the list is reordered the cursor goes with its row")
    func reordered() {
        var screen = PaneScreen(.table(names(0..<5)))
        screen.down(1)
        screen.show(.table(names(0..<5).reversed()))
        #expect(screen.selected == "row 1")
    }

    @Test("When the selected row vanishes the cursor stays at its place")
    func vanished() {
        var screen = PaneScreen(.table(names(0..<5)))
        screen.down(2)
        screen.show(.table(["row 0", "row 1", "row 3", "row 4"]))
        #expect(screen.selected == "row 3")
        screen.act { $0.goToEnd() }
        screen.show(.table(["row 0", "row 1", "row 3"]))
        #expect(screen.selected == "row 3")
        screen.show(.table([]))
        #expect(screen.caret == nil && screen.pane.cursor == nil && screen.pane.offers.isEmpty)
        screen.show(.table(["back"]))
        #expect(screen.selected == "back")
    }

    @Test("When the first row that is seen vanishes, the next one takes its place")
    func topVanished() {
        var screen = PaneScreen(.table(names(0..<20)))
        screen.act { $0.scroll(by: 6) }
        #expect(screen.rows.first == "row 5")
        screen.show(.table(names(0..<2) + names(7..<20)))
        #expect(screen.rows.first == "row 7")
        screen.show(.table(["other"] + names(7..<20)))
        #expect(screen.rows.first == "row 7")
    }

    @Test("A block that grows above the first row that is seen does not move it")
    func blockAbove() {
        func value(_ lines: Int) -> Block { .stack([.lines(lines), .table(names(0..<20))]) }
        var screen = PaneScreen(value(3))
        screen.act { $0.scroll(by: 10) }
        let rows = screen.rows
        screen.show(value(30))
        #expect(screen.rows == rows)
        screen.show(.stack([.lines(1, id: "other"), .lines(2), .table(names(0..<20))]))
        #expect(screen.rows == rows)
    }

    @Test("The cursor stays on a node when nodes come before it")
    func tree() {
        func tree(_ ids: [String]) -> Block { Block(.tree(Tree(ids.map { Tree.Node($0, RichText($0)) }))) }
        var screen = PaneScreen(tree(["a", "b", "c"]))
        screen.down()
        screen.show(tree(["x", "a", "b", "c"]))
        #expect(screen.selected == "  b")
    }

    @Test("At another width the same row is first")
    func width() {
        let words = Block(.text(RichText((0..<200).map { "word\($0)" }.joined(separator: " "))))
        var wide = PaneScreen(columns: 60, rows: 4, .stack([words, .table(names(0..<20))]))
        wide.act { $0.scroll(by: 5) }
        let first = wide.rows[0].split(separator: " ")[0]
        wide.pane.layOut(columns: 30, PaneLook(level: .none, now: Timestamp(microseconds: 0)))
        wide.draw()
        let number = Int(first.dropFirst(4)) ?? 0
        let now = Int(wide.rows[0].split(separator: " ")[0].dropFirst(4)) ?? 0
        #expect(abs(number - now) <= 10, "\(first), \(now)")
    }

    @Test("A notice above a value moves neither the cursor nor what is read")
    func notice() {
        let look = PaneLook(level: .none, now: Timestamp(microseconds: 0))
        var screen = PaneScreen(.table(names(0..<20)))
        screen.down(10)
        let rows = screen.rows
        let notice = Block(.placeholder(Placeholder(.failed, "It failed.")))
        screen.act { $0.show(.table(names(0..<20)), below: notice, columns: 40, look) }
        #expect(screen.rows == rows && screen.selected == "row 10")
        screen.act { $0.goToStart() }
        #expect(screen.rows.prefix(3) == ["It failed.", "", "NAME"])
        screen.show(.table(names(0..<20)))
        #expect(screen.rows.first == "NAME" && screen.selected == "row 0")
    }

    @Test("What can be done comes from the selected row")
    func offers() {
        let link = Link.action("x.delete", "Delete", key: "d", ["name": .row("name")])
        var screen = PaneScreen(.table(names(0..<3), links: [link]))
        screen.down()
        #expect(screen.pane.offers.map(\.arguments) == [["name": "row 1"]])
        #expect(screen.pane.selectedText == "row 1")
    }
}
