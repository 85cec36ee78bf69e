/// Rows at the end of a terminal's output that are redrawn in place, writing only the changes.
///
/// It returns the text to write and writes nothing. No row may reach the last column, where terminals differ.
struct LiveRows: Sendable {
    /// A position among the rows.
    struct Place: Equatable, Sendable {
        var row = 0
        var column = 0
    }

    /// Erases everything from the start of this line on. Some terminals keep erased content of their very first
    /// position.
    private static let eraseBelow = "\u{1B}[K\u{1B}[C\u{1B}[J\r"

    private let level: ColorLevel
    var theme: Theme
    /// The rows on the screen, the width for which they were drawn, and the position of the cursor.
    private var drawn: [StyledText] = []
    private var columns = 0
    private var pen = Place()
    /// Whether the column of the cursor is certain; terminals differ about the width of some characters.
    private var isColumnSure = false

    init(level: ColorLevel, theme: Theme) {
        self.level = level
        self.theme = theme
    }

    /// Shows `rows` in place of the current ones, with the cursor at its position or after the last row.
    ///
    /// The first `final` of them are then no longer touched. `columns` is the current width of the window.
    mutating func update(
        _ rows: [StyledText], final: Int = 0, cursor: Place? = nil, columns: Int, all: Bool = false
    ) -> String {
        var output = erasureAfterResize(to: columns)
        for (number, row) in rows.enumerated() {
            if number < drawn.count {
                guard all || row != drawn[number] else { continue }
                rewrite(drawn[number], as: row, at: number, all: all, &output)
            } else {
                begin(number, &output)
                write(row, &output)
            }
        }
        if drawn.count > rows.count {
            move(to: Place(row: rows.count), &output)
            output += Self.eraseBelow
        }
        drawn = Array(rows.dropFirst(final))
        if drawn.isEmpty && !rows.isEmpty {
            begin(rows.count, &output)
        } else if let last = rows.last {
            move(to: cursor ?? Place(row: rows.count - 1, column: last.width), &output)
        } else {
            pen = Place()
        }
        pen.row -= final
        return output
    }

    /// Shows `rows` permanently and ends below them; anything else between the old ones is removed.
    mutating func finish(_ rows: [StyledText], columns: Int) -> String {
        update(rows, final: rows.count, columns: columns, all: true)
    }

    /// Clears the screen; the next update draws at its top.
    mutating func clearScreen() -> String {
        drawn = []
        pen = Place()
        isColumnSure = true
        return Terminal.emptyWindow
    }
}

// MARK: Drawing

extension LiveRows {
    /// A narrower window has broken the rows into more, so they are redrawn from the new position of the first.
    private mutating func erasureAfterResize(to columns: Int) -> String {
        defer { self.columns = columns }
        guard columns != self.columns, !drawn.isEmpty, columns > 0 else { return "" }
        var above = max(0, pen.column - 1) / columns
        for row in drawn.prefix(pen.row) { above += max(1, (row.width + columns - 1) / columns) }
        drawn = []
        pen = Place()
        isColumnSure = true
        return "\r" + (above > 0 ? "\u{1B}[\(above)A" : "") + Self.eraseBelow
    }

    /// Moves to the start of a row that does not exist yet.
    private mutating func begin(_ row: Int, _ output: inout String) {
        guard row > 0 else { return move(to: Place(), &output) }
        move(toRow: row - 1, &output)
        output += "\r\n"
        pen = Place(row: row)
        isColumnSure = true
    }

    private mutating func rewrite(
        _ old: StyledText, as new: StyledText, at row: Int, all: Bool, _ output: inout String
    ) {
        let shared = all ? 0 : Self.sharedCount(old, new)
        let rest = new.dropping(first: shared)
        move(to: Place(row: row, column: new.width - rest.width), &output)
        write(rest, &output)
        if all || old.width > new.width { output += "\u{1B}[K" }
    }

    private mutating func write(_ text: StyledText, _ output: inout String) {
        output += text.rendered(level: level, theme: theme)
        pen.column += text.width
        isColumnSure = isColumnSure && Self.isSure(text)
    }

    private mutating func move(to place: Place, _ output: inout String) {
        move(toRow: place.row, &output)
        guard !isColumnSure || pen.column != place.column else { return }
        output += "\r" + (place.column > 0 ? "\u{1B}[\(place.column)C" : "")
        pen.column = place.column
        isColumnSure = true
    }

    private mutating func move(toRow row: Int, _ output: inout String) {
        if row < pen.row { output += "\u{1B}[\(pen.row - row)A" }
        if row > pen.row { output += "\u{1B}[\(row - pen.row)B" }
        pen.row = row
    }

    /// How many characters at the start of both look the same, up to the first with an uncertain width.
    private static func sharedCount(_ old: StyledText, _ new: StyledText) -> Int {
        var count = 0
        for (left, right) in zip(old.runs, new.runs) {
            guard left.style == right.style else { return count }
            for (one, other) in zip(left.text, right.text) {
                guard one == other, isSure(one) else { return count }
                count += 1
            }
            guard left.text == right.text else { return count }
        }
        return count
    }

    private static func isSure(_ text: StyledText) -> Bool { text.runs.allSatisfy { $0.text.allSatisfy(isSure) } }

    /// Only some terminals draw clusters of several scalars as one, and a tab moves to its own column.
    private static func isSure(_ character: Character) -> Bool {
        character != "\t" && character.unicodeScalars.count == 1
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
