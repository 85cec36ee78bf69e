import CoreTesting
import TerminalTesting
import Testing

@testable import TerminalKit

/// Screens that are painted one after the other, with the frames for them.
private struct Series {
    let columns: Int
    let rows: Int
    let level: ColorLevel
    private(set) var screens: [CellBuffer] = []
    private(set) var frames: [[UInt8]] = []
    private var painter: Painter

    init(columns: Int, rows: Int, level: ColorLevel = .truecolor) {
        (self.columns, self.rows, self.level) = (columns, rows, level)
        // Neither emulator draws links, and both must see nothing of them.
        painter = Painter(level: level, showsLinks: true)
    }

    mutating func show(_ cells: CellBuffer) {
        screens.append(cells)
        frames.append(painter.frame(showing: cells, caret: CellPosition(row: 0, column: 0)).bytes)
    }

    mutating func show(_ lines: [String]) {
        var cells = CellBuffer(columns: columns, rows: rows)
        for (row, line) in lines.enumerated() { cells.write(StyledText(line), row: row, column: 0) }
        show(cells)
    }

    /// Screens that random programs draw.
    static func random(seed: UInt64, count: Int, doubtful: Int, level: ColorLevel = .truecolor) -> Series {
        var generator = SeededGenerator(seed: seed)
        var series = Series(
            columns: Int.random(in: 2...50, using: &generator), rows: Int.random(in: 2...14, using: &generator),
            level: level)
        for cells in generator.screens(count, columns: series.columns, rows: series.rows, doubtful: doubtful) {
            series.show(cells)
        }
        return series
    }

    /// A doubtful cluster in the first column, the middle, and the last ones, with text around it; then ASCII there, and
    /// the cluster again.
    static func doubtful() -> Series {
        var series = Series(columns: 20, rows: SeededGenerator.doubtfulClusters.count)
        for column in [0, 7, 16, 17, 18, 19] {
            for round in 0..<3 {
                var cells = CellBuffer(columns: series.columns, rows: series.rows)
                for (row, cluster) in SeededGenerator.doubtfulClusters.enumerated() {
                    cells.write("ABCDEFGHIJKLMNOPQRST", row: row, column: 0)
                    if round != 1 { cells.write(StyledText(cluster), row: row, column: column) }
                }
                series.show(cells)
            }
        }
        return series
    }

    /// A wide cell of which one half is overwritten, erased, or in the last column.
    static func wide() -> Series {
        var series = Series(columns: 8, rows: 4)
        for lines in [
            ["a日本b", "日日日日", "x日日日日", "日"], ["a日xb", "日 日日", "xx日日日", "x"], ["ax 本", " 日 日日", "xxx日 日", "日"],
            ["日日日日", "日日日日", "日日日日", "日日日日"], ["12345678", "12345678", "12345678", "12345678"],
        ] { series.show(lines) }
        return series
    }
}

@Suite(.enabled(if: PyteScreen.isInstalled, "needs pyte, which `make setup` installs"), .timeLimit(.minutes(10)))
struct PyteTests {
    private func check(_ series: Series) throws {
        let shown = try PyteScreen.show(series.frames, columns: series.columns, rows: series.rows)
        for (screen, cells) in zip(series.screens, shown) {
            for row in 0..<series.rows {
                var isDoubtful = false
                for column in 0..<series.columns {
                    let cell = screen.cells[row * series.columns + column]
                    if !cell.isRightHalf { isDoubtful = cell.isDoubtful }
                    if isDoubtful {
                        // Nothing of what was there before; letters are in no doubtful cluster.
                        #expect(!cells[row][column].text.contains { $0.isLetter && $0.isASCII }, "\(row);\(column)")
                        continue
                    }
                    check(cell, screen, cells[row][column], "\(row);\(column)", series)
                }
            }
        }
    }

    private func check(
        _ cell: Cell, _ screen: CellBuffer, _ shown: PyteScreen.PyteCell, _ place: String, _ series: Series
    ) {
        let text = screen.text(of: cell)
        // Marks that no letter has are left out in the last column.
        let isText =
            shown.text == text
            || place.hasSuffix(";\(series.columns - 1)") && String(text.unicodeScalars.prefix(1)) == shown.text
        #expect(isText, "\(place): \(shown.text) for \(text)")
        if cell.isRightHalf { return }
        let look = Rendition(screen.styles[Int(cell.style)], level: series.level, theme: .dark).withoutNamedDefault
        if cell.isSpace && !look.showsOnSpaces { return }
        #expect(shown.background == word(look.background), "\(place)")
        #expect(cell.isSpace || shown.foreground == word(look.foreground), "\(place)")
        var attributes = look.bold ? "b" : ""
        if look.italic { attributes += "i" }
        if look.underline { attributes += "u" }
        if look.strikethrough { attributes += "s" }
        if look.reverse { attributes += "r" }
        #expect(cell.isSpace || shown.attributes == attributes, "\(place)")
    }

    private func word(_ color: Rendition.Color) -> String {
        guard case .rgb(let red, let green, let blue) = color else { return "default" }
        return [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("24: pyte shows the cells of random screens with their looks", arguments: UInt64(1)...24)
    func random(seed: UInt64) throws { try check(.random(seed: seed, count: 12, doubtful: Int(seed % 3) * 10)) }

    @Test("25, 26: pyte shows the rest of a row with a doubtful cluster, and no remnant of it")
    func doubtful() throws { try check(.doubtful()) }

    @Test("27: pyte shows wide cells that were overwritten by halves")
    func wide() throws { try check(.wide()) }

    @Test("28: pyte does not scroll when the last column of the last row is written")
    func corner() throws {
        var series = Series(columns: 5, rows: 3)
        series.show(["first", "12345", "abcde"])
        series.show(["first", "12345", "abcdX"])
        series.show(["first", "12345", "abc日"])
        try check(series)
    }
}

@Suite(.enabled(if: TmuxPane.isInstalled, "needs tmux"), .timeLimit(.minutes(10)))
struct TmuxCellTests {
    /// Shows the frames on the alternate screen and compares each, with spaces drawn over what is doubtful: tmux tells
    /// its text, but not in which columns a cluster is.
    private func check(_ series: Series) async throws {
        let pane = try TmuxPane(columns: series.columns, rows: series.rows)
        pane.terminal.write("\u{1B}[?1049h")
        var frames = ""
        for (number, (screen, frame)) in zip(series.screens, series.frames).enumerated() {
            // The first frame clears the screen, so that each one meets what the frames before it have left.
            frames += String(decoding: frame, as: UTF8.self)
            var shown = try await pane.screen(after: frames + Self.cover(screen))
            shown += Array(repeating: "", count: series.rows - shown.count)
            let wanted = (0..<series.rows).map { Self.text(screen, $0) }
            // Without the spaces: nothing is left of what a doubtful cluster has replaced.
            let letters = try await pane.screen(after: frames).joined().filter { $0.isLetter && $0.isASCII }
            #expect(letters == wanted.joined().filter { $0.isLetter && $0.isASCII }, "frame \(number)")
            #expect(shown == wanted, "frame \(number) of \(series.columns)×\(series.rows)")
            guard shown == wanted else { return }
        }
    }

    private static func cover(_ screen: CellBuffer) -> String {
        var output = "\u{1B}[m"
        for (index, cell) in screen.cells.enumerated() where cell.isDoubtful {
            output += "\u{1B}[\(index / screen.columns + 1);\(index % screen.columns + 1)H"
            output += String(repeating: " ", count: cell.width)
        }
        return output
    }

    /// The text of a row with spaces for what is doubtful.
    private static func text(_ screen: CellBuffer, _ row: Int) -> String {
        var text = ""
        for column in 0..<screen.columns {
            let cell = screen.cells[row * screen.columns + column]
            if cell.isDoubtful {
                text += String(repeating: " ", count: cell.width)
            } else if column == screen.columns - 1 && !cell.isRightHalf {
                text += String(screen.text(of: cell).unicodeScalars.prefix(1).map(Character.init))
            } else {
                text += screen.text(of: cell)
            }
        }
        while text.hasSuffix(" ") { text.removeLast() }
        return text
    }

    @Test("24: tmux shows the cells of random screens", arguments: UInt64(1)...6)
    func random(seed: UInt64) async throws {
        try await check(.random(seed: seed, count: 12, doubtful: Int(seed % 3) * 10))
    }

    @Test("25, 26: tmux shows the rest of a row with a doubtful cluster, and no remnant of it")
    func doubtful() async throws { try await check(.doubtful()) }

    @Test("27: tmux shows wide cells that were overwritten by halves")
    func wide() async throws { try await check(.wide()) }

    @Test("28: tmux does not scroll when the last column of the last row is written")
    func corner() async throws {
        var series = Series(columns: 5, rows: 3)
        series.show(["first", "12345", "abcde"])
        series.show(["first", "12345", "abcdX"])
        series.show(["first", "12345", "abc日"])
        try await check(series)
    }
}
