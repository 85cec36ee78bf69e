import Screens
import Testing

@testable import ShellFrontend

@Suite struct PaneMovingTests {
    private let table = Block.table((0..<20).map { "row \($0)" })

    @Test("The cursor begins at the first row and moves to the next one")
    func down() {
        var screen = PaneScreen(table)
        #expect(screen.rows == ["NAME", "row 0", "row 1", "row 2", "row 3"] && screen.selected == "row 0")
        screen.down(3)
        #expect(screen.rows.first == "NAME" && screen.selected == "row 3")
        screen.down()
        #expect(screen.rows == ["row 0", "row 1", "row 2", "row 3", "row 4"] && screen.selected == "row 4")
        screen.up(4)
        #expect(screen.rows.first == "row 0" && screen.selected == "row 0")
        screen.up()
        #expect(screen.rows.first == "NAME" && screen.selected == "row 0")
        screen.up()
        #expect(screen.selected == "row 0")
    }

    @Test("Several keys before the next drawing move as far as with a drawing between them")
    func batch() {
        var screen = PaneScreen(table)
        screen.act { pane in for _ in 0..<12 { pane.move(down: true) } }
        #expect(screen.selected == "row 12" && screen.rows.last == "row 12")
        screen.act { pane in for _ in 0..<5 { pane.move(down: false) } }
        #expect(screen.selected == "row 7")
    }

    @Test("A page moves by one row less than is seen, and the cursor to its first row")
    func page() {
        var screen = PaneScreen(table)
        screen.act { $0.page(down: true) }
        #expect(screen.rows == ["row 3", "row 4", "row 5", "row 6", "row 7"] && screen.selected == "row 3")
        screen.act { $0.page(down: false) }
        #expect(screen.rows.first == "NAME" && screen.selected == "row 0")
    }

    @Test("A page at the end selects the last row, and one at the beginning the first")
    func pageAtEnds() {
        var screen = PaneScreen(table)
        for _ in 0..<9 { screen.act { $0.page(down: true) } }
        #expect(screen.rows.last == "row 19" && screen.selected == "row 19")
        screen.act { $0.page(down: false) }
        #expect(screen.rows == ["row 11", "row 12", "row 13", "row 14", "row 15"])
        for _ in 0..<9 { screen.act { $0.page(down: false) } }
        #expect(screen.rows.first == "NAME" && screen.selected == "row 0")
    }

    @Test("End and Home go to the last and to the first row")
    func ends() {
        var screen = PaneScreen(table)
        screen.act { $0.goToEnd() }
        #expect(screen.rows == ["row 15", "row 16", "row 17", "row 18", "row 19"] && screen.selected == "row 19")
        screen.act { $0.goToStart() }
        #expect(screen.rows.first == "NAME" && screen.selected == "row 0")
    }

    @Test("Nobody scrolls beyond the last row or before the first")
    func limits() {
        var screen = PaneScreen(table)
        screen.act { $0.scroll(by: 1_000) }
        #expect(screen.rows == ["row 15", "row 16", "row 17", "row 18", "row 19"])
        screen.act { $0.scroll(by: -1_000) }
        #expect(screen.rows.first == "NAME")
    }

    @Test("After scrolling, a key selects what is seen and not what was left behind")
    func afterScrolling() {
        var screen = PaneScreen(table)
        screen.act { $0.scroll(by: 10) }
        #expect(screen.rows.first == "row 9" && screen.caret == nil)
        screen.down()
        #expect(screen.rows.first == "row 9" && screen.selected == "row 9")
        screen.act { $0.scroll(by: -5) }
        screen.up()
        #expect(screen.rows.first == "row 4" && screen.selected == "row 8")
    }

    @Test("Text without anything to select scrolls by rows")
    func text() {
        var screen = PaneScreen(rows: 3, .lines(6))
        #expect(screen.rows == ["line 0", "line 1", "line 2"] && screen.caret == nil)
        screen.down(2)
        #expect(screen.rows == ["line 2", "line 3", "line 4"])
        screen.up()
        #expect(screen.rows.first == "line 1")
        screen.down(9)
        #expect(screen.rows.last == "line 5")
    }

    @Test("A long text between two tables is read before the second table is selected")
    func textBetween() {
        var screen = PaneScreen(
            rows: 4,
            .stack([.table(["first"], id: "a"), .lines(6), .table(["second"], id: "b")]))
        #expect(screen.rows == ["NAME", "first", "", "line 0"])
        screen.down()
        #expect(screen.rows.last == "line 1" && screen.selected == "first")
        screen.down(5)
        #expect(screen.rows == ["line 3", "line 4", "line 5", ""] && screen.caret == nil)
        screen.down(2)
        #expect(screen.rows.last == "second" && screen.selected == "second")
    }

    @Test("A click selects the row at that place, and a click on a title nothing")
    func click() {
        var screen = PaneScreen(table)
        #expect(screen.act { $0.select(row: 3) } && screen.selected == "row 2")
        #expect(!screen.act { $0.select(row: 0) } && screen.selected == "row 2")
        #expect(!screen.act { $0.select(row: 99) })
    }

    @Test("Rows with the same id can be passed")
    func repeated() {
        var screen = PaneScreen(.table(["a", "b", "b", "c"]))
        screen.down(3)
        #expect(screen.selected == "c")
        screen.up(3)
        #expect(screen.selected == "a")
    }

    @Test("A row whose id looks like a number sign and a number is a row like others")
    func numberSign() {
        var screen = PaneScreen(rows: 3, .table(["#9", "#1", "#0", "x"]))
        screen.down(3)
        #expect(screen.selected == "x")
        screen.up()
        screen.show(.table(["new", "#9", "#1", "#0", "x"]))
        #expect(screen.selected == "#0")
    }

    @Test("A block named title or gap is not mistaken for a title")
    func namedTitle() {
        var screen = PaneScreen(
            .stack([.table(["a"], id: "gap"), .table(["b"], id: "title")], id: "root", title: "Root"))
        screen.down()
        #expect(screen.selected == "b")
    }

    @Test("Links of blocks without rows are offered")
    func links() {
        let link = Link.action("x.y", "Do", key: "d")
        let composer = Block(.composer(Composer("chat.ask", "text", hint: "Ask")), links: [link])
        let screen = PaneScreen(Block(.stack(Stack([composer])), links: [.action("x.z", "Other")]))
        #expect(screen.pane.offers.map(\.link.title) == ["Other", "Do"] && screen.pane.composer != nil)
    }
}
