import Capabilities
import JSON
import Screens
import TerminalForms
import TerminalKit

/// The rows of a table, each on one line. Columns are cut and left out so that a row fits; from the first step to the right
/// on, all of them are as wide as what is in them.
struct TableSection: WideSection {
    let path: [String]
    var start: Int?
    private let table: Screens.Table
    private let rows: [JSONObject]
    private var columns: (width: Int, columns: [ColumnFit.Column])?
    /// All columns, as wide as what is in them.
    private var measured: [ColumnFit.Candidate]?

    init(_ path: [String], _ table: Screens.Table, rows: [JSONObject], start: Int?) {
        (self.path, self.start) = (path, start)
        self.table = table
        self.rows = rows
    }

    /// The title row and one for each row.
    var count: Int { rows.count + 1 }
    var itemLinks: [Link] { table.rowLinks }
    var detail: Link? { table.detail }

    func id(of item: Int) -> String? { item > 0 && item <= rows.count ? table.id(of: rows[item - 1]) : nil }
    func item(_ id: String) -> Int? { rows.firstIndex { table.id(of: $0) == id }.map { $0 + 1 } }
    func row(of item: Int) -> JSONObject { item > 0 && item <= rows.count ? rows[item - 1] : [:] }

    func height(of item: Int, columns: Int, _ look: PaneLook) -> Int {
        rows.isEmpty ? emptyRows(columns).count : 1
    }

    private func emptyRows(_ columns: Int) -> [StyledText] {
        StyledText(table.empty, Style(.mutedForeground)).fitted(to: columns)
    }

    func text(of item: Int, _ look: PaneLook) -> String {
        guard !rows.isEmpty else { return table.empty }
        let shown = table.columns.filter { $0.role != .detail }
        if item == 0 { return shown.map(Cells.title).joined(separator: " ") }
        return shown.map { ColumnFit.cell(rows[item - 1], $0, look).plainText }.joined(separator: " ")
    }

    mutating func rows(of item: Int, _ range: Range<Int>, columns width: Int, _ look: PaneLook) -> [StyledText] {
        guard !rows.isEmpty else {
            let rows = emptyRows(width)
            return Array(rows[range.clamped(to: rows.indices)])
        }
        guard range.contains(0) else { return [] }
        if start != nil { return [seenLine(of: item, columns: width, look)] }
        return [line(of: item, fitted(to: width, look), look)]
    }

    static var fitsLines: Bool { true }

    mutating func wholeLine(of item: Int, columns width: Int, _ look: PaneLook) -> StyledText {
        rows.isEmpty ? StyledText() : line(of: item, measured(look).map(\.column), look)
    }

    mutating func isCut(_ item: Int, columns width: Int, _ look: PaneLook) -> Bool {
        guard !rows.isEmpty else { return false }
        guard let start else { return measured(look).map(\.column.width) != fitted(to: width, look).map(\.width) }
        return wholeLine(of: item, columns: width, look).width > start + width
    }

    private mutating func fitted(to width: Int, _ look: PaneLook) -> [ColumnFit.Column] {
        if let columns, columns.width == width { return columns.columns }
        let fitted = ColumnFit.columns(of: measured(look), width)
        columns = (width, fitted)
        return fitted
    }

    private mutating func measured(_ look: PaneLook) -> [ColumnFit.Candidate] {
        if let measured { return measured }
        let new = ColumnFit.candidates(of: table.columns, rows, look)
        measured = new
        return new
    }

    private func line(of item: Int, _ columns: [ColumnFit.Column], _ look: PaneLook) -> StyledText {
        var line = StyledText()
        for (number, column) in columns.enumerated() {
            let cell =
                item == 0
                ? StyledText(Cells.title(column.property), Style(.mutedForeground))
                : ColumnFit.cell(rows[item - 1], column.property, look)
            if number > 0 { line.append("  ") }
            let shown = cell.truncated(to: column.width)
            // Spaces at the end of a line are not worth going there.
            let isLast = number + 1 == columns.count && column.alignment == .leading
            line.append(isLast ? shown : shown.padded(to: column.width, alignment: column.alignment))
        }
        return line
    }
}

/// Chooses the columns of a table that fit, and how wide they are.
enum ColumnFit {
    struct Column: Sendable {
        let property: Schema.Property
        let alignment: TextAlignment
        var width: Int
        fileprivate let mayShrink: Bool
    }

    /// A column as wide as what is in it, and how much it is needed.
    struct Candidate: Sendable {
        fileprivate(set) var column: Column
        fileprivate let need: TableColumn.Need
    }

    /// As many rows are measured. All of a long list would take longer than to draw a page of it.
    private static let sample = 300
    private static let gap = 2
    /// A narrower column of text says little.
    private static let least = 12
    /// A wider one takes the place of others.
    private static let widest = 60
    /// Nobody goes further to the right for the rest of a column.
    private static let wholeWidest = 2_000

    static func cell(_ row: JSONObject, _ property: Schema.Property, _ look: PaneLook) -> StyledText {
        Cells.styled(row[property.name] ?? .null, property, LocalClock(now: look.now), isBrief: true).onOneLine
    }

    /// The columns that fit a width.
    static func columns(of candidates: [Candidate], _ width: Int) -> [Column] {
        var columns = candidates
        for index in columns.indices { columns[index].column.width = min(widest, columns[index].column.width) }
        while let excess = excess(columns.map(\.column), width), excess > 0, let last = leastNeeded(columns) {
            columns.remove(at: last)
        }
        return shrunk(columns.map(\.column), width)
    }

    /// All columns with anything in them.
    static func candidates(
        of properties: [Schema.Property], _ rows: [JSONObject], _ look: PaneLook
    ) -> [Candidate] {
        let step = max(1, rows.count / sample)
        let measured = stride(from: 0, to: rows.count, by: step).map { rows[$0] }
        let shown = properties.filter { property in
            property.role != .detail && measured.contains { !Cells.isEmpty($0[property.name]) }
        }
        let title = shown.firstIndex { $0.role == .plain && Cells.mayWrap($0.schema) }
        return shown.enumerated().map { number, property in
            let natural = measured.map { cell($0, property, look).width }.max() ?? 0
            let isIdentifier = measured.contains { Cells.isIdentifier($0[property.name]) }
            let column = Column(
                property: property, alignment: Cells.isNumber(property.schema) ? .trailing : .leading,
                width: min(wholeWidest, max(natural, TextWidth.of(Cells.title(property)))),
                mayShrink: Cells.mayWrap(property.schema))
            let need =
                number == title
                ? .always : TextForm.need(of: property, isIdentifier: isIdentifier, fromRight: shown.count - number)
            return Candidate(column: column, need: need)
        }
    }

    /// How much too wide they are if all that may be are narrow.
    private static func excess(_ columns: [Column], _ width: Int) -> Int? {
        columns.reduce(gap * max(0, columns.count - 1) - width) {
            $0 + ($1.mayShrink ? min($1.width, least) : $1.width)
        }
    }

    /// The column that is left out first; nil if all are needed.
    private static func leastNeeded(_ columns: [Candidate]) -> Int? {
        var best: (index: Int, rank: Int)?
        for (index, entry) in columns.enumerated() {
            let rank: Int
            switch entry.need {
            case .always: continue
            case .ifThereIsRoom: rank = -1
            case .ifItFits(let turn): rank = turn
            }
            if best.map({ rank < $0.rank }) ?? true { best = (index, rank) }
        }
        return best?.index
    }

    private static func shrunk(_ columns: [Column], _ width: Int) -> [Column] {
        var columns = columns
        let room = width - gap * max(0, columns.count - 1)
        while columns.reduce(0, { $0 + $1.width }) > room {
            // By its name a row is known, so that keeps a third of the room. More would take the place of a title.
            let wide = columns.indices.filter { index in
                columns[index].width > (columns[index].property.role == .name ? max(least, room / 3) : least)
            }
            guard let index = widest(of: wide, columns) ?? widest(of: Array(columns.indices), columns) else { break }
            columns[index].width -= 1
        }
        return columns
    }

    /// The widest of the columns that may be cut; nil if there is none.
    private static func widest(of indices: [Int], _ columns: [Column]) -> Int? {
        indices.filter { columns[$0].mayShrink && columns[$0].width > 4 }
            .max { columns[$0].width < columns[$1].width }
    }
}
