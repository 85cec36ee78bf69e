import Capabilities

/// The entry of fuzzers: any bytes as what is drawn on a screen, frame after frame. A broken promise stops the program.
@_spi(Fuzzing) public enum PainterFuzz {
    /// Draws as the bytes say, and shows the frames to terminals that differ about doubtful widths.
    public static func paint(_ bytes: [UInt8]) {
        var input = bytes[...]
        func next() -> Int { Int(input.popFirst() ?? 0) }
        let (columns, rows) = (1 + next() % 40, 1 + next() % 12)
        let level = ColorLevel(rawValue: next() % 4) ?? .none
        var painter = Painter(level: level, isSynchronized: next() % 2 == 0, showsLinks: true)
        var screens = [
            PaintedScreen(columns: columns, rows: rows),
            PaintedScreen(columns: columns, rows: rows) { _ in 1 },
            PaintedScreen(columns: columns, rows: rows) { $0.unicodeScalars.count * 2 },
            PaintedScreen(columns: columns, rows: rows) { _ in 0 },
        ]
        var cells = CellBuffer(columns: columns, rows: rows)
        while !input.isEmpty {
            if next() % 4 == 0 { cells = CellBuffer(columns: columns, rows: rows) }
            for _ in 0...next() % 8 { change(&cells, &input) }
            let caret = next() % 2 == 0 ? nil : CellPosition(row: next() % rows, column: next() % columns)
            let frame = painter.frame(showing: cells, caret: caret)
            for number in screens.indices {
                screens[number].show(frame.bytes)
                check(screens[number], cells, caret, level)
            }
            precondition(painter.frame(showing: cells, caret: caret).isEmpty, "a frame is painted twice")
        }
    }

    private static func check(_ screen: PaintedScreen, _ cells: CellBuffer, _ caret: CellPosition?, _ level: ColorLevel)
    {
        precondition(screen.faults.isEmpty, "\(screen.faults)")
        let differences = screen.differences(from: cells, level: level, links: level != .none)
        precondition(differences.isEmpty, "\(differences)")
        precondition(screen.isCursorVisible == (caret != nil), "the cursor is not as it was asked for")
        precondition(caret == nil || screen.place == caret, "the cursor is not at the caret")
    }

    private static func change(_ cells: inout CellBuffer, _ input: inout ArraySlice<UInt8>) {
        func next() -> Int { Int(input.popFirst() ?? 0) }
        let area = CellArea(
            row: next() % 16 - 2, column: next() % 48 - 4, rows: next() % 8, columns: next() % 24)
        let style = Self.style(next(), next())
        switch next() % 6 {
        case 0: cells.fill(area, style)
        case 1: cells.erase(area)
        case 2: cells.restyle(area) { $0.reverse.toggle() }
        case 3: cells.move(rows: area.rowRange, by: next() % 5 - 2)
        default:
            let bytes = input.prefix(next())
            input = input.dropFirst(bytes.count)
            let text = StyledText(String(decoding: bytes, as: UTF8.self), style)
            cells.write(text, row: area.row, column: area.column, in: next() % 2 == 0 ? nil : area)
        }
    }

    private static func style(_ first: Int, _ second: Int) -> Style {
        let tokens = ThemeToken.allCases
        var style = Style(first % 3 == 0 ? nil : tokens[first % tokens.count])
        if second & 1 != 0 { style.background = tokens[(first + second) % tokens.count] }
        (style.bold, style.dim, style.underline) = (second & 2 != 0, second & 4 != 0, second & 8 != 0)
        (style.italic, style.strikethrough) = (second & 16 != 0, second & 32 != 0)
        style.reverse = second & 64 != 0
        if second & 128 != 0 {
            // What would end the sequence, or hide where the link leads, is in some of them.
            let hostile = first % 3 == 0 ? "\u{1B}\\\u{7};\u{9C}\u{202E}\u{1B}]8;;" : ""
            style.link = LinkTarget("https://host.example/\(hostile)\(first % 4)")
        }
        return style
    }
}
