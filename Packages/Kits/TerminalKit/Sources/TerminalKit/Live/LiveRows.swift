/// Rows at the end of a terminal's output that are redrawn in place, writing only the cells that changed.
///
/// It returns the text to write and writes nothing. No row reaches the last column, where terminals differ; what is
/// longer is cut.
struct LiveRows: Sendable {
    private let level: ColorLevel
    var theme: Theme
    /// The rows on the screen, and the width of the window for which they were drawn.
    private var drawn = CellBuffer(columns: 0, rows: 0)
    private var columns = 0
    /// Where the cursor is. Before the first row, others may have left it in any column.
    private var place = InlinePlace()

    init(level: ColorLevel, theme: Theme) {
        self.level = level
        self.theme = theme
    }

    /// Shows `rows` in place of the current ones, with the cursor at its position or after the last row.
    ///
    /// The first `final` of them are then no longer touched. `columns` is the current width of the window. With `all`,
    /// whatever others have written between the current rows is removed as well.
    mutating func update(
        _ rows: [StyledText], final: Int = 0, cursor: CellPosition? = nil, columns: Int, all: Bool = false
    ) -> String {
        let isResized = columns != self.columns
        if isResized { place = placeAfterBreak(at: columns) }
        self.columns = columns
        let new = buffer(rows)
        let isAnew = isResized || all
        var pen = FramePen(looks: looks(of: new), old: isAnew ? buffer([]) : drawn, new: new, inline: place)
        if isAnew && drawn.rows > 0 { pen.eraseBelow(CellPosition(row: 0, column: 0)) }
        pen.paint()
        pen.reset()
        // A doubtful cluster at the end of a row may be wider than the room that is left.
        let mayWrap = !pen.output.isEmpty && new.cells.contains(where: \.isDoubtful)
        if final == rows.count, final > 0 {
            pen.move(to: CellPosition(row: final, column: 0))
        } else if let last = rows.last {
            pen.move(to: cursor ?? CellPosition(row: rows.count - 1, column: min(last.width, new.columns)))
        }
        drawn = final > 0 ? buffer(rows.dropFirst(final)) : new
        place = InlinePlace(row: (pen.row ?? 0) - final, column: pen.place?.column)
        let output = mayWrap ? FrameSequence.noWrap + pen.output + FrameSequence.wrap : pen.output
        return String(decoding: output, as: UTF8.self)
    }

    /// Shows `rows` permanently and ends below them; anything else between the old ones is removed.
    mutating func finish(_ rows: [StyledText], columns: Int) -> String {
        update(rows, final: rows.count, columns: columns, all: true)
    }

    /// Clears the screen; the next update draws at its top.
    mutating func clearScreen() -> String {
        drawn = buffer([])
        place = InlinePlace(row: 0, column: 0)
        return Terminal.emptyWindow
    }
}

extension LiveRows {
    private func buffer(_ rows: some Collection<StyledText>) -> CellBuffer {
        var buffer = CellBuffer(columns: max(1, columns - 1), rows: rows.count)
        for (row, text) in rows.enumerated() { buffer.write(text, row: row, column: 0) }
        return buffer
    }

    /// Without colours, lines have no attributes either: they are the same as in a file.
    private func looks(of buffer: CellBuffer) -> [Rendition] {
        buffer.styles.map { level == .none ? .plain : Rendition($0, level: level, theme: theme).withoutNamedDefault }
    }

    /// Where the cursor is after the terminal has broken the rows, which a narrower window does, into more of them.
    private func placeAfterBreak(at columns: Int) -> InlinePlace {
        guard drawn.rows > 0, columns > 0 else { return place }
        var above = max(0, (place.column ?? 0) - 1) / columns
        for row in 0..<min(place.row, drawn.rows) {
            above += max(1, (drawn.width(ofRow: row) + columns - 1) / columns)
        }
        return InlinePlace(row: above)
    }
}

/// Lines at the end of a terminal's output that are redrawn in place.
///
/// It returns the text to write and writes nothing. It begins and ends at the start of a line.
///
///     var live = LiveLines(level: level)
///     terminal.write(live.show(["2 of 5 done", "building"], size: size))
///     terminal.write(live.finish(["5 of 5 done"], size: size))
public struct LiveLines: Sendable {
    private var rows: LiveRows

    /// Lines that are not on the screen yet, styled for a terminal that supports `level`.
    public init(level: ColorLevel, theme: Theme = .dark) {
        rows = LiveRows(level: level, theme: theme)
    }

    /// How many lines can be redrawn on a screen of that size.
    public static func room(_ size: TerminalSize) -> Int { max(1, size.rows - 1) }

    /// Returns the text to write to show these lines in place of the current ones, as many as there is room for.
    ///
    /// - Parameter above: lines that are shown permanently before them.
    public mutating func show(_ lines: [StyledText], above: [StyledText] = [], size: TerminalSize) -> String {
        let lines = lines.prefix(Self.room(size))
        return rows.update(fit(above + lines, size), final: above.count, columns: size.columns)
    }

    /// Returns the text to write to show these lines permanently.
    public mutating func finish(_ lines: [StyledText], size: TerminalSize) -> String {
        rows.finish(fit(lines, size), columns: size.columns)
    }

    /// The last column stays free, because a full line makes some terminals wrap.
    private func fit(_ lines: [StyledText], _ size: TerminalSize) -> [StyledText] {
        lines.map { $0.singleLine.truncated(to: max(1, size.columns - 1)) }
    }
}
