/// Rows under titles, aligned by spaces and without lines.
///
///     var table = Table([TableColumn("NAME"), TableColumn("SIZE", alignment: .trailing)])
///     table.append(["model.gguf", "4.1 GB"])
///     for line in table.lines(width: 80) { … }
public struct Table: Sendable {
    /// The columns from left to right.
    public let columns: [TableColumn]
    /// How the titles look.
    public var headerStyle: Style
    /// Whether the titles are shown.
    public var showsHeader: Bool

    private var rows: [[Cell]] = []

    private struct Cell: Sendable {
        let text: StyledText
        let width: Int

        init(_ text: StyledText) {
            self.text = text.singleLine
            width = self.text.width
        }
    }

    private static let gap = 2

    /// A table without rows.
    public init(_ columns: [TableColumn], headerStyle: Style = Style(.mutedForeground), showsHeader: Bool = true) {
        self.columns = columns
        self.headerStyle = headerStyle
        self.showsHeader = showsHeader
    }

    /// Adds a row with one cell for each column; line endings in cells become spaces.
    public mutating func append(_ row: [StyledText]) {
        precondition(row.count == columns.count, "a row needs one cell for each of the \(columns.count) columns")
        rows.append(row.map(Cell.init))
    }

    /// The lines of the table, at most `width` columns wide; nothing of it is lost.
    ///
    /// Where it is too wide, cells of columns that may wrap take several lines; where that does not do either, each row
    /// becomes a record, with a line for each title. Without a width, as for a file or a pipe, a row is a line.
    public func lines(width: Int?) -> [StyledText] {
        let titles = columns.map { Cell(StyledText($0.title, headerStyle)) }
        let all = (showsHeader ? [titles] : []) + rows
        var widths = [Int](repeating: 0, count: columns.count)
        for row in all {
            for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.width) }
        }
        guard let width, widths.reduce(Self.gap * (columns.count - 1), +) > width else {
            return all.map { line($0.map(\.text), widths: widths) }
        }
        guard let narrow = fitted(widths, to: width) else { return records(width: width) }
        let parts = all.map { row in row.indices.map { row[$0].text.wrapped(to: narrow[$0]) } }
        guard parts.allSatisfy({ $0.allSatisfy { $0.count <= Self.mostLines } }) else { return records(width: width) }
        return parts.flatMap { lines(of: $0, widths: narrow) }
    }

    /// Cells that take more lines than this are read better as records.
    private static let mostLines = 6

    private func lines(of row: [[StyledText]], widths: [Int]) -> [StyledText] {
        (0..<(row.map(\.count).max() ?? 0)).map { number in
            line(row.map { number < $0.count ? $0[number] : StyledText() }, widths: widths)
        }
    }

    private func line(_ row: [StyledText], widths: [Int]) -> StyledText {
        var line = StyledText()
        var owed = 0
        for (index, text) in row.enumerated() {
            let padding = max(0, widths[index] - text.width)
            let isLeading = columns[index].alignment == .leading
            // Spaces are owed until text follows them, so that no line ends in spaces.
            if !text.isEmpty {
                line.append(String(repeating: " ", count: owed + (isLeading ? 0 : padding)))
                line.append(text)
                owed = isLeading ? padding : 0
            } else {
                owed += padding
            }
            owed += Self.gap
        }
        return line
    }

    /// The widths that fit, the widest of the columns that may wrap giving way first; nothing when even narrow ones do not.
    private func fitted(_ widths: [Int], to width: Int) -> [Int]? {
        let room = width - Self.gap * (columns.count - 1)
        func narrowed(_ limit: Int) -> [Int] {
            widths.indices.map { index in
                let column = columns[index]
                return column.mayWrap ? min(widths[index], max(limit, column.minimumWidth)) : widths[index]
            }
        }
        var limit = 0
        guard narrowed(limit).reduce(0, +) <= room else { return nil }
        while narrowed(limit + 1).reduce(0, +) <= room { limit += 1 }
        var result = narrowed(limit)
        var spare = room - result.reduce(0, +)
        for index in result.indices where spare > 0 && result[index] < widths[index] {
            result[index] += 1
            spare -= 1
        }
        return result
    }

    /// Each row as titles and values below each other; values that are empty are left out.
    private func records(width: Int) -> [StyledText] {
        var lines: [StyledText] = []
        for row in rows {
            var list = KeyValueList(labelStyle: headerStyle)
            for (column, cell) in zip(columns, row) where !cell.text.isEmpty { list.append(column.title, cell.text) }
            if !lines.isEmpty { lines.append(StyledText()) }
            lines += list.lines(width: width)
        }
        return lines
    }
}
