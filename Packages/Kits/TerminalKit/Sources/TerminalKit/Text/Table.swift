public import Capabilities

/// Rows under titles, aligned by spaces and without lines.
///
///     var table = Table([TableColumn("NAME"), TableColumn("SIZE", alignment: .trailing)])
///     table.append(["model.gguf", "4.1 GB"])
///     for line in table.lines(width: 80) { … }
public struct Table: Sendable {
    /// The columns from left to right.
    public let columns: [TableColumn]
    /// The style of the titles.
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

    /// The lines of the table, at most `width` columns wide; nothing is lost.
    ///
    /// If it is too wide, cells of columns that may wrap take several lines. If that is not enough, optional columns
    /// are left out, or each row becomes a record with a line for each title. Without a width, as for a file or a pipe,
    /// a row is a line.
    ///
    /// - Parameter note: receives the titles of the columns that were left out; without it none are.
    public func lines(width: Int?, note: (([String]) -> String)? = nil) -> [StyledText] {
        guard let width else { return grid(width: nil).lines ?? [] }
        guard let note, width >= Self.leastWidth, columns.count > Self.fewestColumns else {
            return grid(width: width).lines ?? records(width: width)
        }
        let minor = columns.indices.filter { columns[$0].need == .ifThereIsRoom }
        var others: [(turn: Int, index: Int)] = []
        for index in columns.indices {
            if case .ifItFits(let turn) = columns[index].need { others.append((turn, index)) }
        }
        let order = minor + others.sorted { ($0.turn, $0.index) < ($1.turn, $1.index) }.map(\.index)
        // With many columns, the remaining ones should be wide enough to read.
        let spare = columns.count >= Self.manyColumns ? columns.count - Self.fewestColumns - 1 : 0
        for count in 0...max(minor.count, min(order.count, spare)) {
            let gone = Array(order.prefix(count))
            if let lines = without(gone).grid(width: width, comfort: Self.comfort).lines {
                return lines + remark(gone, note, width)
            }
        }
        for count in minor.count...max(minor.count, min(order.count, columns.count - Self.fewestColumns)) {
            let gone = Array(order.prefix(count))
            switch without(gone).grid(width: width) {
            case .fits(let lines): return lines + remark(gone, note, width)
            // Long texts are easier to read as records, whatever the other columns are.
            case .tooLong: return records(width: width)
            case .tooWide: continue
            }
        }
        return records(width: width)
    }

    /// In a narrower window records are easier to read than the rest of a table.
    private static let leastWidth = 60
    /// A table with fewer remaining columns is of little use.
    private static let fewestColumns = 3
    private static let manyColumns = 6
    /// A narrower column breaks most lines.
    private static let comfort = 20

    private func without(_ gone: [Int]) -> Table {
        if gone.isEmpty { return self }
        let kept = columns.indices.filter { !gone.contains($0) }
        var table = Table(kept.map { columns[$0] }, headerStyle: headerStyle, showsHeader: showsHeader)
        table.rows = rows.map { row in kept.map { row[$0] } }
        return table
    }

    private func remark(_ gone: [Int], _ note: ([String]) -> String, _ width: Int) -> [StyledText] {
        gone.isEmpty ? [] : StyledText(note(gone.sorted().map { columns[$0].title }), headerStyle).wrapped(to: width)
    }

    private enum Grid {
        case fits([StyledText])
        case tooWide
        /// A cell would take too many lines.
        case tooLong

        var lines: [StyledText]? {
            if case .fits(let lines) = self { lines } else { nil }
        }
    }

    /// The rows below each other, with columns at least this wide if they need it.
    private func grid(width: Int?, comfort: Int = 0) -> Grid {
        let titles = columns.map { Cell(StyledText($0.title, headerStyle)) }
        let all = (showsHeader ? [titles] : []) + rows
        var widths = [Int](repeating: 0, count: columns.count)
        for row in all {
            for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.width) }
        }
        guard let width, widths.reduce(Self.gap * (columns.count - 1), +) > width else {
            return .fits(all.map { line($0.map(\.text), widths: widths) })
        }
        guard let narrow = fitted(widths, to: width),
            narrow.indices.allSatisfy({ narrow[$0] >= min(comfort, widths[$0]) })
        else { return .tooWide }
        let parts = all.map { row in row.indices.map { row[$0].text.wrapped(to: narrow[$0]) } }
        guard parts.allSatisfy({ $0.allSatisfy { $0.count <= Self.mostLines } }) else { return .tooLong }
        return .fits(parts.flatMap { lines(of: $0, widths: narrow) })
    }

    /// Cells with more lines are easier to read as records.
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
            // Spaces are written only before more text, so that no line ends in spaces.
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

    /// Widths that fit, reducing the widest wrapping columns first; nil if even narrow ones do not fit.
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

    /// Each row as titles and values below each other; empty values are left out.
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

/// One column of a ``Table``.
public struct TableColumn: Sendable, Hashable {
    /// The title of the column.
    public var title: String
    /// The alignment of its cells; numbers read best trailing.
    public var alignment: TextAlignment
    /// Whether its cells may wrap when the table is too wide; not for values to copy, such as ids.
    public var mayWrap: Bool
    /// The minimum width of a wrapping column; narrower ones break every word.
    public var minimumWidth: Int
    /// Whether the table can do without it.
    public var need: Need

    /// How much a table needs a column.
    public enum Need: Sendable, Hashable {
        /// Never left out.
        case always
        /// Left out before the table becomes records, the lowest number first.
        case ifItFits(Int)
        /// Left out before others become narrow, from the left.
        case ifThereIsRoom
    }

    /// A column.
    public init(
        _ title: String, alignment: TextAlignment = .leading, mayWrap: Bool = false, minimumWidth: Int = 14,
        need: Need = .always
    ) {
        self.title = title
        self.alignment = alignment
        self.mayWrap = mayWrap
        self.minimumWidth = max(2, minimumWidth)
        self.need = need
    }
}
