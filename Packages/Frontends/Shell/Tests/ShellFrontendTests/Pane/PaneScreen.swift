import Capabilities
import JSON
import Screens
import TerminalKit

@testable import ShellFrontend

/// A pane with the cells that it is drawn on.
struct PaneScreen {
    var pane = Pane()
    private let area: CellArea
    private var look = PaneLook(level: .none, now: Timestamp(microseconds: 1_800_000_000_000_000))
    private(set) var cells = CellBuffer(columns: 0, rows: 0)
    private(set) var caret: CellPosition?

    init(columns: Int = 40, rows: Int = 5, _ block: Block? = nil) {
        area = CellArea(row: 0, column: 0, rows: rows, columns: columns)
        if let block { show(block) }
    }

    /// Shows another value and draws it.
    mutating func show(_ block: Block) {
        pane.show(block, columns: area.columns, look)
        draw()
    }

    mutating func draw() {
        cells = CellBuffer(columns: area.columns, rows: area.rows)
        caret = pane.draw(on: &cells, area, isFocused: true)
    }

    /// Does something with the pane and draws it.
    @discardableResult
    mutating func act<Result>(_ body: (inout Pane) -> Result) -> Result {
        defer { draw() }
        return body(&pane)
    }

    mutating func down(_ count: Int = 1) { for _ in 0..<count { act { $0.move(down: true) } } }
    mutating func up(_ count: Int = 1) { for _ in 0..<count { act { $0.move(down: false) } } }

    /// The rows that are seen.
    var rows: [String] { (0..<cells.rows).map { cells.text(row: $0) } }

    /// The row with the cursor.
    var selected: String? { caret.map { cells.text(row: $0.row) } }

    /// What is drawn in reverse.
    var marked: [String] {
        (0..<cells.rows).compactMap { row in
            let places = (0..<cells.columns).map { CellPosition(row: row, column: $0) }
            let text = places.filter { cells.style(at: $0).reverse }.map { cells.cluster(at: $0) }.joined()
            return text.isEmpty ? nil : text
        }
    }
}

extension Block {
    /// A table with a row for each name.
    static func table(_ names: [String], links: [Link] = [], id: String = "table") -> Block {
        let columns = [Schema.Property("name", "", .string, role: .name)]
        let rows = names.map { JSONObject([("name", .string($0))]) }
        return Block(.table(Screens.Table(columns, .all(rows), id: ["name"], links: links)), id: id)
    }

    static func log(_ feed: Feed<Log.Line>) -> Block { Block(.log(Log(feed))) }
    static func transcript(_ feed: Feed<Transcript.Entry>) -> Block { Block(.transcript(Transcript(feed))) }

    static func lines(_ count: Int, _ word: String = "line", id: String = "text") -> Block {
        Block(.text(RichText((0..<count).map { "\(word) \($0)" }.joined(separator: "\n"))), id: id)
    }
}

extension Feed {
    /// A feed with these entries.
    convenience init(_ entries: [Entry], mostEntries: Int = 10_000) {
        self.init(mostEntries: mostEntries)
        append(entries)
    }
}

func logFeed(_ count: Int, mostEntries: Int = 10_000) -> Feed<Log.Line> {
    Feed((0..<count).map { Log.Line("line \($0)") }, mostEntries: mostEntries)
}

func said(_ id: String, _ author: Transcript.Author = .notice, _ text: String? = nil, isOpen: Bool = false)
    -> Transcript.Entry
{
    Transcript.Entry(id, author, text ?? "text of \(id)", title: id, isOpen: isOpen)
}
