import Capabilities
import CoreTesting
import Testing

@testable import TerminalKit

@Suite struct LiveRowsTests {
    @Test("Only changed rows are written")
    func small() {
        var rows = LiveRows(level: .none, theme: .dark)
        #expect(rows.update(["> hell"], columns: 20) == "\r> hell")
        #expect(rows.update(["> hello"], columns: 20) == "o")
        #expect(rows.update(["> hello"], columns: 20) == "")
        #expect(rows.update(["> help"], columns: 20) == "\r\u{1B}[5Cp\u{1B}[K")
        #expect(rows.update(["> help", "  me"], columns: 20) == "\r\n  me")
        let moved = rows.update(["> help", "  me"], cursor: .init(row: 0, column: 2), columns: 20)
        #expect(moved == "\u{1B}[1A\r\u{1B}[2C")
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
                screen.show(live.update(rows, final: count, columns: 24, all: all))
                final += rows.prefix(count).map(\.plainText)
                rows.removeFirst(count)
                let expected = final + rows.map(\.plainText)
                #expect(Self.trimmed(screen.everything) == Self.trimmed(expected), "seed \(seed)")
            }
        }
    }

    private static func row(_ random: inout SeededGenerator) -> StyledText {
        var row = StyledText("- ", Style(bold: true))
        let text = random.text(maximumCount: 5).filter { !$0.isNewline && $0 != "\t" && TextWidth.of($0) > 0 }
        row.append(TextWidth.prefix(of: text, width: 20), Bool.random(using: &random) ? Style(.accent) : .plain)
        return row
    }

    /// Trailing spaces and trailing empty lines cannot be seen.
    private static func trimmed(_ lines: [String]) -> [String] {
        var lines = lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}
