import Capabilities
import CoreTesting
import Testing

@testable import TerminalKit

@Suite struct LiveRowsTests {
    private static let escape = "\u{1B}["

    @Test("Only changed cells are written")
    func small() {
        let escape = Self.escape
        var rows = LiveRows(level: .none, theme: .dark)
        #expect(rows.update(["> hell"], columns: 20) == "\r> hell")
        #expect(rows.update(["> hello"], columns: 20) == "o")
        #expect(rows.update(["> hello"], columns: 20) == "")
        #expect(rows.update(["> help"], columns: 20) == "\(escape)6Gp \(escape)7G")
        #expect(rows.update(["> help", "  me"], columns: 20) == "\r\n  me")
        let moved = rows.update(["> help", "  me"], cursor: .init(row: 0, column: 2), columns: 20)
        #expect(moved == "\(escape)1A\(escape)3G")
        let word = StyledText("a ") + StyledText("word", Style(.accent)) + " in the middle"
        let changed = StyledText("a ") + StyledText("ward", Style(.accent)) + " in the middle"
        #expect(rows.finish([], columns: 20) == "\r\(escape)K\(escape)C\(escape)J\r")
        _ = rows.update([word], columns: 40)
        #expect(rows.update([changed], columns: 40) == "\(escape)4Ga\(escape)21G")
    }

    @Test("No row begins in the colour of the surface of the one before")
    func surface() {
        var rows = LiveRows(level: .ansi256, theme: .dark)
        let marked = StyledText("marked", Style(background: .accent))
        let parts = rows.update([marked, "plain", marked, marked], final: 4, columns: 20).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        #expect(parts.count == 5 && parts[0].hasSuffix("marked\(Self.escape)m") && parts[1] == "plain")
        #expect(parts[2].hasSuffix("\(Self.escape)m") && parts[3].hasSuffix("\(Self.escape)m") && parts[4].isEmpty)
    }

    @Test("A row that is longer than the window is cut before the last column", arguments: [1, 2, 20])
    func long(columns: Int) {
        var rows = LiveRows(level: .none, theme: .dark)
        var screen = VirtualScreen(columns: columns, rows: 4)
        let text = StyledText(String(repeating: "x", count: 50))
        screen.show(rows.update([text, "y"], columns: columns))
        let shown = String(repeating: "x", count: max(1, columns - 1))
        #expect(screen.everything == [shown, "y"])
        screen.show(rows.finish([text, "z"], columns: columns))
        #expect(screen.everything == [shown, "z"] && screen.column == 0)
    }

    @Test("What others have written between the rows is gone when they are finished")
    func echo() {
        var rows = LiveRows(level: .none, theme: .dark)
        var screen = VirtualScreen(columns: 20, rows: 6)
        screen.show(rows.update(["one", "two"], columns: 20))
        screen.show("typed ahead")
        screen.show(rows.finish(["one", "two"], columns: 20))
        #expect(screen.lines == ["one", "two"])
    }

    @Test("The screen always shows the rows, and final rows stay")
    func random() {
        for seed in UInt64(1)...150 {
            var random = SeededGenerator(seed: seed)
            var live = LiveRows(level: .ansi16, theme: .dark)
            var screen = VirtualScreen(columns: 24, rows: 8)
            var final: [String] = []
            var rows: [StyledText] = []
            for _ in 0..<30 {
                let kept = rows.prefix(Int.random(in: 0...rows.count, using: &random))
                rows = Array(kept)
                for _ in 0..<Int.random(in: 0...3, using: &random) where rows.count < 7 {
                    rows.append(Self.row(&random))
                }
                let count = Int.random(in: 0...rows.count, using: &random)
                let all = Bool.random(using: &random)
                let cursor = rows.randomElement(using: &random).map { _ in
                    CellPosition(row: Int.random(in: 0..<rows.count, using: &random), column: 3)
                }
                screen.show(live.update(rows, final: count, cursor: cursor, columns: 24, all: all))
                final += rows.prefix(count).map(Self.shown)
                rows.removeFirst(count)
                let expected = final + rows.map(Self.shown)
                #expect(Self.trimmed(screen.everything) == Self.trimmed(expected), "seed \(seed)")
            }
        }
    }

    @Test("Beside clusters about whose width terminals differ, all else is where it belongs", arguments: [0, 1, 2, 4])
    func doubtful(width: Int) {
        let words = ["one", "two", "three"]
        for cluster in SeededGenerator.doubtfulClusters {
            var live = LiveRows(level: .ansi16, theme: .dark)
            var screen = VirtualScreen(columns: 20, rows: 8) {
                TextWidth.isDoubtful($0) ? width : TextWidth.of($0)
            }
            let end = String(repeating: "-", count: 19 - TextWidth.of(cluster)) + cluster
            for (number, word) in words.enumerated() {
                let row = StyledText("a \(cluster)") + StyledText(word, Style(.accent))
                screen.show(live.update(["\(number)", row, StyledText(end), "below"], columns: 20))
                // The cluster may be drawn over what comes after it, and is wider than the rest of the row at its end.
                let shown = screen.everything
                #expect(shown.count == 4 && shown[0] == "\(number)" && shown[3] == "below", "\(cluster) \(shown)")
                #expect(shown.count > 1 && shown[1].hasPrefix("a ") && shown[1].hasSuffix(word), "\(cluster) \(shown)")
                #expect(screen.column == 5)
            }
            screen.show(live.finish(["a word", "below"], columns: 20))
            #expect(screen.everything == ["a word", "below"])
        }
    }

    private static func row(_ random: inout SeededGenerator) -> StyledText {
        var row = StyledText("- ", Style(bold: true))
        let text = random.text(maximumCount: 5).filter { !$0.isNewline && $0 != "\t" && TextWidth.of($0) > 0 }
        row.append(TextWidth.prefix(of: text, width: 20), Bool.random(using: &random) ? Style(.accent) : .plain)
        return row
    }

    /// The text as cells show it, which is not always as the text has it.
    private static func shown(_ row: StyledText) -> String {
        var cells = CellBuffer(columns: 23, rows: 1)
        cells.write(row, row: 0, column: 0)
        return cells.text(row: 0)
    }

    /// Trailing spaces and trailing empty lines cannot be seen.
    private static func trimmed(_ lines: [String]) -> [String] {
        var lines = lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}
