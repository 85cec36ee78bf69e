import Capabilities
import CoreTesting
import Testing

@_spi(Fuzzing) @testable import TerminalKit

/// A painter that has shown the first screen, and what it writes for the second.
private func frame(
    from old: CellBuffer, to new: CellBuffer, caret: CellPosition? = nil, level: ColorLevel = .truecolor,
    isSynchronized: Bool = true
) -> [UInt8] {
    var painter = Painter(level: level, isSynchronized: isSynchronized)
    _ = painter.frame(showing: old, caret: caret)
    return painter.frame(showing: new, caret: caret).bytes
}

private func cells(_ columns: Int, _ rows: Int, _ lines: [StyledText] = []) -> CellBuffer {
    var cells = CellBuffer(columns: columns, rows: rows)
    for (row, line) in lines.enumerated() { cells.write(line, row: row, column: 0) }
    return cells
}

extension [UInt8] {
    /// The bytes without the markers of an update, and without those that hide and show the cursor.
    fileprivate var painted: String {
        var text = String(decoding: self, as: UTF8.self)
        for marker in ["\u{1B}[?2026h", "\u{1B}[?2026l", "\u{1B}[?25l", "\u{1B}[?25h"] {
            while let range = text.firstRange(of: marker) { text.removeSubrange(range) }
        }
        return text
    }

    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}

@Suite struct PainterTests {
    @Test(
        "24: Every frame leaves the cells of its buffer, however a terminal draws what is doubtful",
        arguments: UInt64(1)...60)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let (columns, rows) = (Int.random(in: 1...60, using: &generator), Int.random(in: 1...16, using: &generator))
        let level = ColorLevel.allCases.randomElement(using: &generator) ?? .none
        var painter = Painter(level: level, isSynchronized: seed % 2 == 0, showsLinks: seed % 3 == 0)
        var screens = [
            PaintedScreen(columns: columns, rows: rows), PaintedScreen(columns: columns, rows: rows) { _ in 1 },
            PaintedScreen(columns: columns, rows: rows) { $0.unicodeScalars.reduce(0) { $0 + TextWidth.leading($1) } },
            PaintedScreen(columns: columns, rows: rows) { _ in 0 },
        ]
        for cells in generator.screens(40, columns: columns, rows: rows, doubtful: Int(seed % 3) * 15) {
            let caret = Bool.random(using: &generator) ? CellPosition(row: 0, column: columns / 2) : nil
            let frame = painter.frame(showing: cells, caret: caret)
            for number in screens.indices {
                screens[number].show(frame.bytes)
                #expect(screens[number].faults == [])
                let links = seed % 3 == 0 && level != .none
                #expect(screens[number].differences(from: cells, level: level, links: links) == [])
                #expect(screens[number].isCursorVisible == (caret != nil))
                #expect(caret == nil || screens[number].place == caret)
            }
        }
    }

    @Test(
        "25: Before a doubtful cluster its cells are erased, and after it comes a column",
        arguments: [
            ("❤\u{FE0F}rest", 0, "\u{1B}[1;1H\u{1B}[2X❤\u{FE0F}\u{1B}[3Grest\u{1B}[K"),
            ("ab❤\u{FE0F}c", 0, "\u{1B}[1;1Hab\u{1B}[2X❤\u{FE0F}\u{1B}[5Gc\u{1B}[K"),
            ("❤\u{FE0F}", 8, "\u{1B}[1;9H\u{1B}[2X❤\u{FE0F}"),
            ("❤\u{FE0F}x", 7, "\u{1B}[1;8H\u{1B}[2X❤\u{FE0F}\u{1B}[10Gx"),
            ("🇩🇩", 8, "\u{1B}[1;9H\u{1B}[2X🇩🇩"),
        ])
    func doubtful(text: String, column: Int, expected: String) {
        var new = cells(10, 1)
        new.write(StyledText(text), row: 0, column: column)
        #expect(frame(from: cells(10, 1), to: new).painted == expected)
    }

    @Test("A screen whose rows all moved to other places is compared in a moment", .timeLimit(.minutes(1)))
    func mixedRows() {
        let (rows, columns) = (30_000, 10)
        func cells(_ number: (Int) -> Int) -> [Cell] {
            (0..<rows).flatMap { row in
                Array(repeating: Cell(scalar: UInt32(0x4E00 + number(row)), style: 0, width: 1), count: columns)
            }
        }
        let moves = RowMoves(from: cells { $0 }, to: cells { rows - 1 - $0 }, columns: columns, rows: rows)
        #expect(moves.sources.count == rows)
    }

    @Test("The longest of many blocks that moved is scrolled")
    func longestBlock() {
        let order = (0..<20).reversed() + (40..<60) + (20..<40)
        func cells(_ order: [Int]) -> [Cell] {
            order.flatMap { row in
                Array(repeating: Cell(scalar: UInt32(0x4E00 + row), style: 0, width: 1), count: 80)
            }
        }
        let moves = RowMoves(from: cells(Array(0..<60)), to: cells(Array(order)), columns: 80, rows: 60)
        #expect(moves.moves.first == RowMove(top: 20, bottom: 59, count: 20))
    }

    @Test("26: A row with a doubtful cluster is painted from it to the end, before and after")
    func remnant() {
        let (emoji, plain) = (cells(10, 1, ["ab👍🏽 tail"]), cells(10, 1, ["abcd tail"]))
        #expect(frame(from: emoji, to: plain).painted == "\u{1B}[1;3Hcd tail\u{1B}[K")
        #expect(frame(from: plain, to: emoji).painted == "\u{1B}[1;3H\u{1B}[2X👍🏽\u{1B}[5G tail\u{1B}[K")
        // Also if something else in the row has changed.
        #expect(
            frame(from: emoji, to: cells(10, 1, ["xb👍🏽 tail"])).painted
                == "\u{1B}[1;1Hxb\u{1B}[2X👍🏽\u{1B}[5G tail\u{1B}[K")
    }

    @Test("28: The last column of the last row is written with autowrap off and no line feed after it")
    func corner() {
        var new = cells(3, 2, ["abc", "def"])
        var painter = Painter(level: .none)
        let full = painter.frame(showing: new, caret: nil)
        #expect(full.isFullRepaint)
        #expect(full.bytes.text.contains("\u{1B}[?7l") && full.bytes.painted.hasSuffix("\u{1B}[2Jabc\u{1B}[2;1Hdef"))
        new.write("x", row: 1, column: 2)
        #expect(painter.frame(showing: new, caret: nil).bytes.painted == "\u{1B}[2;3Hx")
    }

    @Test("29: A frame in which nothing changed has no bytes", arguments: [true, false])
    func nothing(isSynchronized: Bool) {
        let lines: [StyledText] = ["plain", StyledText("red 👍🏽 日", Style(.error, underline: true)), "", "last"]
        var painter = Painter(level: .truecolor, isSynchronized: isSynchronized)
        let caret = CellPosition(row: 2, column: 1)
        #expect(!painter.frame(showing: cells(40, 4, lines), caret: caret).isEmpty)
        // The same, drawn in another order, with other numbers for its styles.
        var again = CellBuffer(columns: 40, rows: 4)
        for row in lines.indices.reversed() { again.write(lines[row], row: row, column: 0) }
        #expect(painter.frame(showing: again, caret: caret).isEmpty)
    }

    @Test(
        "30: One changed cell costs at most 40 bytes beside the markers", arguments: ColorLevel.allCases, [true, false])
    func oneCell(level: ColorLevel, isSynchronized: Bool) {
        let old = cells(80, 24, ["prompt"])
        var new = old
        new.write(StyledText("x", Style(.warning)), row: 23, column: 79)
        let bytes = frame(
            from: old, to: new, caret: CellPosition(row: 22, column: 78), level: level, isSynchronized: isSynchronized)
        #expect(bytes.painted.utf8.count <= 40 && bytes.painted.contains("x"))
        #expect(bytes.count <= 40 + 16)
    }

    @Test("A letter typed at the caret is written without a second position")
    func typed() {
        var painter = Painter(level: .none, isSynchronized: true)
        _ = painter.frame(showing: cells(20, 2, ["> a"]), caret: CellPosition(row: 0, column: 3))
        let bytes = painter.frame(showing: cells(20, 2, ["> ab"]), caret: CellPosition(row: 0, column: 4)).bytes
        #expect(bytes.text == "\u{1B}[?2026h\u{1B}[1;4Hb\u{1B}[?2026l")
    }

    @Test("A last line that grows while the text scrolls is not written again")
    func growing() {
        let lines = (0..<12).map { StyledText("line \($0) of a text that is long enough for a scroll") }
        let old = cells(60, 10, Array(lines[0..<9]) + ["the last line is open"])
        let new = cells(60, 10, Array(lines[2..<9]) + ["the last line is open, and grows", lines[9], lines[10]])
        let frame = frame(from: old, to: new).painted
        #expect(frame.contains("\u{1B}[1;10r") && frame.contains(", and grows"))
        #expect(!frame.contains("open"))
    }

    @Test("31: A line appended to a full log costs at most three times its bytes", arguments: [(80, 24), (200, 60)])
    func appended(columns: Int, rows: Int) {
        var generator = SeededGenerator(seed: 7)
        func line(_ number: Int) -> StyledText {
            var text = "\(number) "
            while text.utf8.count < columns { text += String(generator.next() % 1_000_000, radix: 36) + " " }
            return StyledText(String(text.prefix(columns)))
        }
        let lines = (0..<rows + 20).map(line)
        var painter = Painter(level: .truecolor, isSynchronized: true)
        let caret = CellPosition(row: rows - 1, column: 2)
        for first in 0..<20 {
            // The log is above a row that stays.
            var screen = cells(columns, rows, Array(lines[first..<first + rows - 1]))
            screen.write("> prompt", row: rows - 1, column: 0)
            let frame = painter.frame(showing: screen, caret: caret)
            if first > 0 {
                #expect(frame.bytes.count <= 3 * columns)
                #expect(frame.bytes.text.contains("\u{1B}[1;\(rows - 1)r\u{1B}[\(rows - 1);1H\n\u{1B}[r"))
            }
        }
    }

    @Test("Rows that moved down are moved by a reverse line feed at the top of their region")
    func down() {
        let lines = (0..<10).map { StyledText("line \($0) with some text of its own") }
        let bytes = frame(from: cells(40, 10, lines), to: cells(40, 10, ["new", "other"] + lines.dropLast(2)))
        #expect(bytes.painted == "\u{1B}[1;10r\u{1B}[1;1H\u{1B}M\u{1B}M\u{1B}[r\u{1B}[1;1Hnew\r\nother")
    }

    @Test("Two blocks that moved apart are moved by themselves")
    func blocks() {
        let lines = (0..<20).map { StyledText("line \($0) with some text of its own") }
        let new = Array(lines[2..<9]) + ["a", "b", lines[9]] + ["c"] + Array(lines[10..<19])
        var painter = Painter(level: .none, isSynchronized: true)
        var screen = PaintedScreen(columns: 40, rows: 20)
        screen.show(painter.frame(showing: cells(40, 20, lines), caret: nil).bytes)
        let bytes = painter.frame(showing: cells(40, 20, new), caret: nil).bytes
        screen.show(bytes)
        #expect(screen.faults == [] && screen.differences(from: cells(40, 20, new), level: .none) == [])
        #expect(bytes.text.contains("\u{1B}[1;9r") && bytes.text.contains("\u{1B}[11;20r"))
        #expect(bytes.count < 150)
    }

    @Test("32: A region has two rows or more, and is reset before anything else is written", arguments: UInt64(1)...40)
    func regions(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var lines = (0..<12).map { "\($0) " + String(repeating: "\($0)", count: 30) }
        var painter = Painter(level: .none)
        var screen = PaintedScreen(columns: 40, rows: 12)
        var regions = 0
        for round in 0..<30 {
            let place = Int.random(in: 0..<11, using: &generator)
            if Bool.random(using: &generator) {
                lines.remove(at: place)
                lines.append("new \(round) " + String(repeating: "n", count: 30))
            } else {
                lines.removeLast()
                lines.insert("old \(round) " + String(repeating: "o", count: 30), at: place)
            }
            let bytes = painter.frame(showing: cells(40, 12, lines.map { StyledText($0) }), caret: nil).bytes
            screen.show(bytes)
            #expect(screen.faults == [])
            for part in bytes.text.split(separator: "\u{1B}[") {
                guard let end = part.firstIndex(of: "r"), part[..<end].contains(";"),
                    part[..<end].allSatisfy({ $0.isNumber || $0 == ";" })
                else { continue }
                let numbers = part[..<end].split(separator: ";").compactMap { Int($0) }
                #expect(numbers.count == 2 && numbers[0] >= 1 && numbers[0] < numbers[1] && numbers[1] <= 12)
                regions += 1
            }
        }
        #expect(regions > 5)
    }

    @Test(
        "33: An update is marked only if the terminal has said that it knows the marks, and is closed in the same frame"
    )
    func updates() {
        let (old, new) = (cells(20, 4, ["one"]), cells(20, 4, ["two"]))
        let marked = frame(from: old, to: new, caret: CellPosition(row: 1, column: 1))
        #expect(marked.text.hasPrefix("\u{1B}[?2026h") && marked.text.hasSuffix("\u{1B}[?2026l"))
        #expect(marked.text.components(of: "\u{1B}[?2026") == 2)
        let plain = frame(from: old, to: new, caret: CellPosition(row: 1, column: 1), isSynchronized: false)
        #expect(plain.text.components(of: "2026") == 0)
    }

    @Test("34: Without updates, the cursor is hidden during a frame and visible at the caret after it")
    func cursor() {
        let caret = CellPosition(row: 1, column: 1)
        let bytes = frame(from: cells(20, 4, ["one"]), to: cells(20, 4, ["two"]), caret: caret, isSynchronized: false)
        #expect(bytes.text == "\u{1B}[?25l\u{1B}[1;1Htwo\u{1B}[2;2H\u{1B}[?25h")
        var painter = Painter(level: .none)
        let screen = cells(20, 4, ["one"])
        _ = painter.frame(showing: screen, caret: caret)
        #expect(painter.frame(showing: screen, caret: nil).bytes.text == "\u{1B}[?25l")
        #expect(painter.frame(showing: screen, caret: nil).isEmpty)
        #expect(painter.frame(showing: screen, caret: caret).bytes.text == "\u{1B}[2;2H\u{1B}[?25h")
        #expect(
            painter.frame(showing: screen, caret: CellPosition(row: 0, column: 0)).bytes.text == "\u{1B}[1;1H")
    }

    @Test("A short gap is written again, and a long one is jumped over")
    func gaps() {
        let old = cells(40, 1, ["a23456789b 123456789 c"])
        #expect(frame(from: old, to: cells(40, 1, ["x23456789y 123456789 c"])).painted == "\u{1B}[1;1Hx23456789y")
        #expect(frame(from: old, to: cells(40, 1, ["x23456789b 123456789 y"])).painted == "\u{1B}[1;1Hx\u{1B}[22Gy")
    }

    @Test("The rest of a row is erased where it is empty, and only in the terminal's own colour")
    func erased() {
        let old = cells(40, 1, ["a long line of words"])
        #expect(frame(from: old, to: cells(40, 1, ["a"])).painted == "\u{1B}[1;3H\u{1B}[K")
        let red = StyledText("x", Style(background: .destructive))
        #expect(
            frame(from: old, to: cells(40, 1, [red]), level: .ansi16).painted
                == "\u{1B}[1;1H\u{1B}[97;41mx\u{1B}[m\u{1B}[K")
    }

    @Test("A look changes by what differs, or by a reset where that is shorter")
    func looks() {
        var line = StyledText("a", Style(.error, bold: true))
        line.append("b", Style(.error, bold: true, underline: true))
        line.append("c", Style(.error))
        line.append(" d")
        #expect(
            frame(from: cells(9, 1), to: cells(9, 1, [line]), level: .ansi16).painted
                == "\u{1B}[1;1H\u{1B}[1;31ma\u{1B}[4mb\u{1B}[0;31mc \u{1B}[md")
    }

    @Test("A link has its id on every row, and is closed")
    func links() throws {
        let target = try #require(LinkTarget("https://host.example/a"))
        let line = StyledText("docs", Style(link: target))
        var painter = Painter(level: .ansi16, showsLinks: true)
        let text = painter.frame(showing: cells(20, 2, [line, line]), caret: nil).bytes.text
        let parts = text.split(separator: "\u{1B}]8;").filter { $0.contains("host.example") }
        #expect(parts.count == 1 && text.hasSuffix("docs\u{1B}]8;;\u{1B}\\"))
        _ = painter.frame(showing: cells(20, 2, ["", line]), caret: nil)
        let again = painter.frame(showing: cells(20, 2, [line, line]), caret: nil).bytes.text
        let id = try #require(parts.first?.prefix { $0 != ";" })
        #expect(again.contains("\u{1B}]8;\(id);https://host.example/a\u{1B}\\docs"))
        painter.level = .none
        #expect(!painter.frame(showing: cells(20, 2, [line, line]), caret: nil).bytes.text.contains("]8;"))
        (painter.level, painter.showsLinks) = (.ansi16, false)
        #expect(!painter.frame(showing: cells(20, 2, [line, line]), caret: nil).bytes.text.contains("]8;"))
    }

    @Test("A link is closed before a row is erased, rows move, or other text comes, and no target can end its sequence")
    func linkEnds() throws {
        let hostile = "https://a.example/\u{1B}\\\u{7}\u{9C}\u{202E}]8;;https://b.example\u{1B}\\"
        let target = try #require(LinkTarget(hostile))
        let link = StyledText("a link", Style(link: target))
        var painter = Painter(level: .truecolor, showsLinks: true)
        var screen = PaintedScreen(columns: 20, rows: 6)
        let rows = (0..<6).map { StyledText("row \($0) ") + link }
        let screens = [
            cells(20, 6, rows), cells(20, 6, Array(rows[1...]) + [link]), cells(20, 6, [link, "", link + "x"]),
            cells(20, 6, [StyledText("a"), link + StyledText(" 日本"), StyledText("👩🏽‍❤️‍👨🏻", Style(link: target)) + "b"]),
            cells(20, 6),
        ]
        for cells in screens {
            let frame = painter.frame(showing: cells, caret: nil)
            screen.show(frame.bytes)
            #expect(screen.faults == [] && screen.differences(from: cells, level: .truecolor, links: true) == [])
            let text = frame.bytes.text
            #expect(!text.contains("\u{7}") && !text.contains("\u{9C}") && !text.contains("\u{202E}"))
            #expect(!text.contains("\u{1B}]8;;https"), "only what is in the first target")
        }
    }

    @Test("A cell stays as small as it was without links, because they belong to its style")
    func cellSize() { #expect(MemoryLayout<Cell>.size == 8 && MemoryLayout<Cell>.stride == 8) }

    @Test("After a resize, a change of theme, or another program, everything is cleared and painted")
    func unknown() {
        var painter = Painter(level: .truecolor)
        let screen = cells(10, 2, [StyledText("x", Style(.error))])
        #expect(painter.frame(showing: screen, caret: nil).isFullRepaint)
        #expect(!painter.frame(showing: screen, caret: nil).isFullRepaint)
        painter.invalidate()
        #expect(painter.frame(showing: screen, caret: nil).isFullRepaint)
        let light = painter.frame(showing: screen, caret: nil)
        painter.theme = .light
        let repainted = painter.frame(showing: screen, caret: nil)
        #expect(light.isEmpty && repainted.isFullRepaint && repainted.bytes.text.contains("\u{1B}[2J"))
        let resized = painter.frame(showing: cells(11, 2), caret: nil)
        #expect(resized.isFullRepaint && resized.bytes.text.contains("\u{1B}[2J"))
    }

    @Test("What a fuzzer finds stays found", arguments: UInt64(1)...200)
    func fuzz(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        while bytes.count < 400 {
            bytes.append(UInt8.random(in: 0...255, using: &generator))
            if Int.random(in: 0..<6, using: &generator) == 0 {
                bytes += Array(generator.line(doubtful: 40).utf8)
            }
        }
        PainterFuzz.paint(bytes)
    }
}

extension String {
    /// How often a text is in it.
    fileprivate func components(of part: String) -> Int {
        var (count, rest) = (0, self[...])
        while let range = rest.firstRange(of: part) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
