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

    /// The lines of the table, at most `width` columns wide as far as the columns may be truncated.
    ///
    /// Without a width, as for a file or a pipe, nothing is truncated.
    public func lines(width: Int?) -> [StyledText] {
        var all = rows
        if showsHeader { all.insert(columns.map { Cell(StyledText($0.title, headerStyle)) }, at: 0) }
        var widths = [Int](repeating: 0, count: columns.count)
        for row in all {
            for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.width) }
        }
        if let width { shrink(&widths, by: widths.reduce(Self.gap * (columns.count - 1), +) - width) }
        return all.map { line($0, widths: widths) }
    }

    private func line(_ row: [Cell], widths: [Int]) -> StyledText {
        var line = StyledText()
        var owed = 0
        for (index, cell) in row.enumerated() {
            let isCut = cell.width > widths[index]
            let text = isCut ? cell.text.truncated(to: widths[index]) : cell.text
            let padding = widths[index] - (isCut ? text.width : cell.width)
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

    /// Takes columns away from the widest column of the lowest priority until the excess is gone.
    private func shrink(_ widths: inout [Int], by excess: Int) {
        var excess = excess
        while excess > 0 {
            let shrinkable = widths.indices.filter { columns[$0].mayTruncate && widths[$0] > columns[$0].minimumWidth }
            guard let priority = shrinkable.map({ columns[$0].priority }).min() else { return }
            let group = shrinkable.filter { columns[$0].priority == priority }.sorted { widths[$0] > widths[$1] }
            let runnerUp = group.count > 1 ? widths[group[1]] : 0
            let floor = max(columns[group[0]].minimumWidth, min(runnerUp, widths[group[0]] - 1))
            let cut = min(excess, widths[group[0]] - floor)
            widths[group[0]] -= cut
            excess -= cut
        }
    }
}
