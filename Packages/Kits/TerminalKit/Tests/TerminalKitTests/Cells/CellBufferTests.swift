import Capabilities
import Testing

@testable import TerminalKit

@Suite struct CellBufferTests {
    @Test("39: An area of any size and at any place is as good as any")
    func largeAreas() {
        let numbers = [Int.min, -1, 0, 1, .max]
        var cells = CellBuffer(columns: 4, rows: 3)
        let all = cells.area
        for row in numbers {
            for rows in numbers {
                let area = CellArea(row: row, column: row, rows: rows, columns: rows)
                let shared = area.intersection(all)
                #expect(shared == all.intersection(area))
                #expect(shared.isEmpty == (rows < 1 || row > 1 || row < 0 && rows < .max || row == .min))
                let place = CellPosition(row: 1, column: 1)
                #expect(area.contains(place) == shared.contains(place))
                cells.fill(area, Style(background: .accent))
                cells.restyle(area) { $0.bold = true }
                cells.write("text", row: row, column: row, in: area)
            }
        }
    }

    private func row(_ columns: Int, _ draw: (inout CellBuffer) -> Void) -> String {
        var cells = CellBuffer(columns: columns, rows: 1)
        draw(&cells)
        return (0..<columns).map { cells.cluster(at: CellPosition(row: 0, column: $0)) }.joined(separator: "|")
    }

    @Test(
        "A text takes the cells of its clusters",
        arguments: [
            ("abc", "a|b|c| | "), ("日本", "日||本|| "), ("a日", "a|日|| | "), ("e\u{301}x", "é|x| | | "),
            ("❤\u{FE0F}x", "❤\u{FE0F}||x| | "), ("👍🏽!", "👍🏽||!| | "), ("🇩🇪é", "🇩🇪||é| | "), ("a\tb\nc", "a| |b| |c"),
            ("x\u{301}\u{323}", "x\u{323}\u{301}| | | | "), ("\u{E0B0}│", "\u{E0B0}|│| | | "), ("", " | | | | "),
        ])
    func clusters(text: String, expected: String) {
        #expect(row(5) { $0.write(StyledText(text), row: 0, column: 0) } == expected)
    }

    @Test(
        "A scalar that nobody sees is shown by name",
        arguments: [
            ("a\u{200B}b", "a‹U+200B›b"), ("a\u{FEFF}b", "a‹U+FEFF›b"), ("a\u{202E}b", "a‹U+202E›b"),
            ("a\u{2066}b", "a‹U+2066›b"), ("\u{301}a", "‹U+0301›a"), ("a\u{200D}b", "a‹U+200D›b"),
            ("a\u{E0041}b", "a‹U+E0041›b"), ("a\u{FE0F}b", "a‹U+FE0F›b"), ("\u{200E}a", "‹U+200E›a"),
            ("👨\u{200D}b", "👨‹U+200D›b"), ("\u{1160}", "‹U+1160›"), ("a\u{3164}", "a‹U+3164›"),
            ("a\u{2028}b", "a‹U+2028›b"),
            ("🏴\u{E0067}\u{E0062}", "🏴‹U+E0067›‹U+E0062›"), ("🏴\u{E007F}", "🏴‹U+E007F›"),
            ("🏴\u{E0020}\u{E007F}", "🏴‹U+E0020›‹U+E007F›"),
            ("🏴\u{E0061}\u{E007F}\u{E0062}", "🏴\u{E0061}\u{E007F}‹U+E0062›"),
            (
                "🏴" + String(repeating: "\u{E0061}", count: 7) + "\u{E007F}",
                "🏴" + String(repeating: "‹U+E0061›", count: 7) + "‹U+E007F›"
            ),
            ("👍\u{200C}b", "👍‹U+200C›b"), ("日\u{200C}本", "日‹U+200C›本"), ("ی\u{200C} ", "ی‹U+200C›"),
            ("ی\u{200C}\u{200C}خ", "ی\u{200C}‹U+200C›خ"), ("ی\u{200C}b", "ی‹U+200C›b"),
            ("👍\u{E0061}\u{E007F}", "👍‹U+E0061›‹U+E007F›"),
        ])
    func names(text: String, expected: String) {
        var cells = CellBuffer(columns: 90, rows: 1)
        cells.write(StyledText(text), row: 0, column: 0)
        #expect(cells.text(row: 0).unicodeScalars.elementsEqual(expected.unicodeScalars))
    }

    @Test(
        "A joiner or a selector that its neighbours need is kept",
        arguments: [
            "👨‍👩‍👧", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1\u{FE0F}\u{20E3}", "می\u{200C}خواهم", "क्\u{200C}ष", "می\u{200C}", "葛\u{E0100}", "क्\u{200D}ष",
            "🏳️‍🌈",
        ])
    func kept(text: String) {
        var cells = CellBuffer(columns: 20, rows: 1)
        cells.write(StyledText(text), row: 0, column: 0)
        #expect(cells.text(row: 0).unicodeScalars.elementsEqual(text.unicodeScalars))
    }

    @Test("A cluster with a thousand marks keeps as many as terminals do")
    func manyMarks() {
        var cells = CellBuffer(columns: 4, rows: 1)
        cells.write(StyledText("x" + String(repeating: "\u{323}", count: 1_000) + "y"), row: 0, column: 0)
        #expect(cells.cluster(at: CellPosition(row: 0, column: 0)).unicodeScalars.count == 24)
        #expect(cells.cluster(at: CellPosition(row: 0, column: 1)) == "y")
    }

    @Test("27: Drawing on either half of a wide cell blanks the other")
    func wide() {
        let text: StyledText = "a日本b"
        #expect(
            row(6) {
                $0.write(text, row: 0, column: 0)
                $0.write("x", row: 0, column: 1)
            } == "a|x| |本||b")
        #expect(
            row(6) {
                $0.write(text, row: 0, column: 0)
                $0.write("x", row: 0, column: 2)
            } == "a| |x|本||b")
        #expect(
            row(6) {
                $0.write(text, row: 0, column: 0)
                $0.erase(CellArea(row: 0, column: 2, rows: 1, columns: 2))
            } == "a| | | | |b")
        #expect(
            row(6) {
                $0.write(text, row: 0, column: 0)
                $0.write("漢", row: 0, column: 2)
            } == "a| |漢|| |b")
    }

    @Test("27: A wide cell that does not fit the last column is a space")
    func lastColumn() {
        #expect(row(3) { $0.write("ab日", row: 0, column: 0) } == "a|b| ")
        #expect(row(3) { $0.write("a日", row: 0, column: 0) } == "a|日|")
        #expect(row(1) { $0.write("日", row: 0, column: 0) } == " ")
    }

    @Test("A text is drawn only within the clip, also from a column before it")
    func clip() {
        let clip = CellArea(row: 0, column: 1, rows: 1, columns: 3)
        #expect(row(6) { $0.write("abcdef", row: 0, column: 0, in: clip) } == " |b|c|d| | ")
        #expect(row(6) { $0.write("日本語", row: 0, column: 0, in: clip) } == " | |本|| | ")
        #expect(row(6) { $0.write("日本語", row: 0, column: -1) } == " |本||語|| ")
        #expect(row(6) { $0.write("abc", row: 1, column: 0) } == " | | | | | ")
        #expect(
            row(6) { $0.write("abc", row: 0, column: 0, in: CellArea(row: 3, column: 0, rows: 1, columns: 6)) }
                == " | | | | | ")
    }

    @Test("A filled area has the style, and a wide cell at its edge is not cut")
    func fill() {
        var cells = CellBuffer(columns: 6, rows: 2)
        cells.write("日本日", row: 0, column: 0)
        cells.fill(CellArea(row: -1, column: 1, rows: 2, columns: 4), Style(background: .accent))
        #expect(cells.text(row: 0).isEmpty)
        #expect(
            (0..<6).map { cells.style(at: CellPosition(row: 0, column: $0)).background }
                == [nil, .accent, .accent, .accent, .accent, nil])
        #expect(cells.style(at: CellPosition(row: 1, column: 1)) == .plain)
    }

    @Test("A selection changes the style and keeps the text")
    func restyle() {
        var cells = CellBuffer(columns: 6, rows: 1)
        cells.write(StyledText("日a", Style(.error)), row: 0, column: 0)
        cells.restyle(cells.area) { $0.background = .accent }
        #expect(cells.text(row: 0).hasPrefix("日a"))
        #expect(
            (0..<3).allSatisfy {
                cells.style(at: CellPosition(row: 0, column: $0)) == Style(.error, background: .accent)
            })
        #expect(cells.style(at: CellPosition(row: 0, column: 5)) == Style(background: .accent))
    }

    @Test("Rows move as a list that scrolls, and those that come from outside are empty")
    func move() {
        var cells = CellBuffer(columns: 3, rows: 4)
        for row in 0..<4 { cells.write("r\(row)", row: row, column: 0) }
        cells.move(rows: 1..<4, by: 1)
        #expect((0..<4).map { cells.text(row: $0) } == ["r0", "r2", "r3", ""])
        cells.move(rows: 0..<3, by: -1)
        #expect((0..<4).map { cells.text(row: $0) } == ["", "r0", "r2", ""])
    }

    @Test(
        "39: A buffer of any size can be drawn on",
        arguments: [(0, 0), (1, 1), (0, 5), (39, 14), (300, 100), (1_000, 1)])
    func sizes(columns: Int, rows: Int) {
        var cells = CellBuffer(columns: columns, rows: rows)
        cells.fill(CellArea(row: -5, column: -5, rows: 2_000, columns: 2_000), Style(background: .accent))
        for row in -1...rows { cells.write("日本 a👍🏽", row: row, column: columns - 3) }
        cells.restyle(cells.area) { $0.bold = true }
        var painter = Painter(level: .truecolor)
        var screen = PaintedScreen(columns: columns, rows: rows)
        screen.show(painter.frame(showing: cells, caret: CellPosition(row: 900, column: 900)).bytes)
        #expect(screen.faults.isEmpty)
        #expect(screen.differences(from: cells, level: .truecolor).isEmpty)
    }
}
