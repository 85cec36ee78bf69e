import Capabilities
import TerminalKit
import Testing

@Suite struct ExampleTests {
    @Test("The example of the README prints what the README shows")
    func readme() {
        var table = Table([TableColumn("HOST"), TableColumn("STATE"), TableColumn("NOTE", mayWrap: true)])
        table.append(["web1", StyledText("running", Style(.ring)), "from a server: \u{1B}[2J"])
        #expect(
            table.lines(width: 40).map { $0.rendered(level: .none) } == [
                "HOST  STATE    NOTE", "web1  running  from a server: ␛[2J",
            ])
    }

    @Test("The example of a screen paints it, and then only what differs")
    func screen() {
        var cells = CellBuffer(columns: 80, rows: 24)
        cells.write("web1 is ready", row: 0, column: 2)
        cells.restyle(CellArea(row: 0, column: 0, rows: 1, columns: 80)) { $0.background = .accent }
        var painter = Painter(level: .truecolor, isSynchronized: true)
        let caret = CellPosition(row: 23, column: 2)
        #expect(painter.frame(showing: cells, caret: caret).isFullRepaint)
        #expect(painter.frame(showing: cells, caret: caret).isEmpty)
    }
}
