import Capabilities
import CoreTesting

@testable import TerminalKit

extension SeededGenerator {
    /// Clusters about whose width terminals agree, and others.
    static let agreedClusters = [
        "a", "b", "Z", "0", "~", " ", "  ", "word ", "two words", "é", "e\u{301}", "x\u{323}", "日", "本語", "한글", "ｱ",
        "§", "─│",
        "\u{E0B0}", "😀", "⠋", "ж",
    ]
    static let doubtfulClusters = [
        "❤\u{FE0F}", "1\u{FE0F}\u{20E3}", "👍🏽", "🇩🇪", "🇩", "👨‍👩‍👧", "🏳️‍🌈", "👩🏽‍❤️‍👨🏻", "क्षि", "กำ", "\u{1112}\u{1161}\u{11AB}",
        "\u{1FAE8}",
        "\u{200B}", "\u{FEFF}",
    ]

    mutating func line(doubtful: Int) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &self) {
            let clusters =
                Int.random(in: 0..<100, using: &self) < doubtful ? Self.doubtfulClusters : Self.agreedClusters
            text += clusters.randomElement(using: &self) ?? ""
        }
        return text
    }

    mutating func style() -> Style {
        var style = Style()
        if Bool.random(using: &self) { style.token = ThemeToken.allCases.randomElement(using: &self) }
        if Int.random(in: 0..<4, using: &self) == 0 {
            style.background = [.accent, .destructive].randomElement(using: &self)
        }
        style.bold = Int.random(in: 0..<4, using: &self) == 0
        style.underline = Int.random(in: 0..<6, using: &self) == 0
        style.reverse = Int.random(in: 0..<8, using: &self) == 0
        if Int.random(in: 0..<8, using: &self) == 0 { style.link = LinkTarget("https://host.example/a;b") }
        return style
    }

    /// Changes a screen as programs do: new lines in a log, a selection, an erased pane, text somewhere.
    ///
    /// - Parameter doubtful: how many of a hundred clusters have a doubtful width.
    mutating func change(_ cells: inout CellBuffer, doubtful: Int) {
        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }
        let area = CellArea(
            row: number(-1..<cells.rows), column: number(-2..<cells.columns), rows: number(0..<5),
            columns: number(0..<20))
        switch number(0..<7) {
        case 0:
            cells.move(rows: area.row..<cells.rows, by: number(-3..<4))
            cells.write(StyledText(line(doubtful: doubtful), style()), row: cells.rows - 1, column: 0)
        case 1: cells.erase(area)
        case 2: cells.fill(area, style())
        case 3: cells.restyle(area) { $0.background = .accent }
        default:
            let clip = number(0..<3) == 0 ? area : nil
            cells.write(
                StyledText(line(doubtful: doubtful), style()), row: area.row, column: area.column, in: clip)
        }
    }

    /// Several screens of a program, one after the other.
    mutating func screens(_ count: Int, columns: Int, rows: Int, doubtful: Int) -> [CellBuffer] {
        var cells = CellBuffer(columns: columns, rows: rows)
        for row in 0..<rows { cells.write(StyledText(line(doubtful: doubtful), style()), row: row, column: 0) }
        return (0..<count).map { _ in
            // A program draws some of its screens from the beginning.
            if Int.random(in: 0..<6, using: &self) == 0 { cells = CellBuffer(columns: columns, rows: rows) }
            for _ in 0..<Int.random(in: 1..<6, using: &self) { change(&cells, doubtful: doubtful) }
            return cells
        }
    }
}
