import TerminalKit

extension String {
    /// Whether it contains a text in any case.
    func containsInAnyCase(_ text: String) -> Bool { lowercased().contains(text.lowercased()) }

    /// The first place of a text, from an index on.
    func range(of text: String, from start: Index) -> Range<Index>? {
        guard !text.isEmpty else { return nil }
        var start = start
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}

extension CellBuffer {
    /// Fills the cells of a row that show nothing, and have no surface of their own.
    mutating func fillEmpty(_ strip: CellArea, _ style: Style) {
        var column = strip.column + strip.columns
        while column > strip.column, cluster(at: CellPosition(row: strip.row, column: column - 1)) == " " {
            column -= 1
        }
        fill(
            CellArea(row: strip.row, column: column, rows: 1, columns: strip.column + strip.columns - column), style)
    }
}
