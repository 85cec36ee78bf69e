/// A place on the screen, counted from its upper left corner.
public struct CellPosition: Sendable, Hashable {
    /// The row; 0 is the first.
    public var row: Int
    /// The column; 0 is the first.
    public var column: Int

    /// The place at `row` and `column`.
    public init(row: Int, column: Int) {
        self.row = row
        self.column = column
    }
}

/// A rectangle of cells. It may reach beyond the screen; what is outside is not drawn.
public struct CellArea: Sendable, Hashable {
    /// The first row.
    public var row: Int
    /// The first column.
    public var column: Int
    /// How many rows it has.
    public var rows: Int
    /// How many columns it has.
    public var columns: Int

    /// A rectangle; a negative size is an empty one.
    public init(row: Int, column: Int, rows: Int, columns: Int) {
        self.row = row
        self.column = column
        self.rows = max(0, rows)
        self.columns = max(0, columns)
    }

    /// Whether it has no cell.
    public var isEmpty: Bool { rows == 0 || columns == 0 }

    /// The cells that both have.
    public func intersection(_ other: CellArea) -> CellArea {
        let (top, left) = (max(row, other.row), max(column, other.column))
        return CellArea(
            row: top, column: left, rows: max(top, min(endRow, other.endRow)) - top,
            columns: max(left, min(endColumn, other.endColumn)) - left)
    }

    /// Whether the place is in it.
    public func contains(_ place: CellPosition) -> Bool {
        rowRange.contains(place.row) && columnRange.contains(place.column)
    }

    var endRow: Int { Self.end(row, rows) }
    var endColumn: Int { Self.end(column, columns) }
    var rowRange: Range<Int> { row..<endRow }
    var columnRange: Range<Int> { column..<endColumn }

    /// The end of what begins at `start`; that of the numbers for an area that reaches beyond them.
    private static func end(_ start: Int, _ count: Int) -> Int {
        let (end, isTooLarge) = start.addingReportingOverflow(count)
        return isTooLarge ? .max : end
    }
}
