import TerminalKit

/// Where everything is on the screen.
struct ShellLayout: Sendable, Equatable {
    /// The room of a screen: with its frame, and inside of that.
    struct Room: Sendable, Equatable {
        let view: ViewID
        let frame: CellArea
        let inside: CellArea
        let isFramed: Bool
    }

    /// In a smaller window nothing can be read.
    static let least = TerminalSize(columns: 40, rows: 15)

    let tabs: CellArea
    /// The titles of the screens of the page, or the way to it.
    let titles: CellArea
    let body: CellArea
    let notice: CellArea
    let hints: CellArea
    private(set) var rooms: [Room] = []
    /// The line between a list and its detail.
    private(set) var divider: CellArea?
    /// The room of a page that has no screen to show.
    private(set) var empty: CellArea?

    init(_ size: TerminalSize, _ page: ShellTabs.Page) {
        let (columns, rows) = (size.columns, size.rows)
        func row(_ number: Int) -> CellArea { CellArea(row: number, column: 0, rows: 1, columns: columns) }
        tabs = row(0)
        titles = row(1)
        body = CellArea(row: 2, column: 0, rows: rows - 4, columns: columns)
        notice = row(rows - 2)
        hints = row(rows - 1)
        let isWide = columns >= ShellModel.detailWidth
        guard let pinned = page.pinned else {
            place(page, in: body, hasDetail: isWide)
            return
        }
        if isWide {
            let (left, right) = halves
            place(page, in: left, hasDetail: false)
            rooms.append(Self.framed(pinned, right))
        } else if page.isPinFocused {
            rooms = [Self.framed(pinned, body)]
        } else {
            place(page, in: body, hasDetail: false)
        }
    }

    /// Both halves of the body, with a column between them.
    private var halves: (left: CellArea, right: CellArea) {
        let left = CellArea(row: body.row, column: 0, rows: body.rows, columns: (body.columns - 1) / 2)
        let right = CellArea(
            row: body.row, column: left.columns + 1, rows: body.rows, columns: body.columns - left.columns - 1)
        return (left, right)
    }

    private mutating func place(_ page: ShellTabs.Page, in area: CellArea, hasDetail: Bool) {
        switch page.arrangement {
        case .panels: rooms = Self.panels(page.places.map { page.views[$0] }, in: area)
        case .alternatives: divide(page, in: area, hasDetail: hasDetail)
        }
        if rooms.isEmpty { empty = area }
    }

    private mutating func divide(_ page: ShellTabs.Page, in area: CellArea, hasDetail: Bool) {
        guard hasDetail, let leading = page.leading, let detail = page.detail else {
            rooms = page.front.map { [Room(view: $0, frame: area, inside: area.inset(1), isFramed: false)] } ?? []
            return
        }
        let (left, right) = halves
        divider = CellArea(row: body.row, column: left.columns, rows: body.rows, columns: 1)
        rooms = [
            Room(view: leading, frame: left, inside: left.inset(1), isFramed: false),
            Room(view: detail, frame: right, inside: right.inset(1), isFramed: false),
        ]
    }

    /// Panels below each other, in two columns if there is room.
    private static func panels(_ views: [ViewID], in body: CellArea) -> [Room] {
        guard !views.isEmpty else { return [] }
        let columns = body.columns >= 120 && views.count > 1 ? 2 : 1
        let perColumn = (views.count + columns - 1) / columns
        return views.enumerated().map { index, view in
            let (column, number) = (index / perColumn, index % perColumn)
            let count = min(perColumn, views.count - column * perColumn)
            let width = body.columns / columns
            let top = body.rows * number / count
            let frame = CellArea(
                row: body.row + top, column: column * width, rows: body.rows * (number + 1) / count - top,
                columns: column == columns - 1 ? body.columns - width * (columns - 1) : width)
            return framed(view, frame)
        }
    }

    private static func framed(_ view: ViewID, _ frame: CellArea) -> Room {
        Room(
            view: view, frame: frame,
            inside: CellArea(
                row: frame.row + 1, column: frame.column + 2, rows: frame.rows - 2, columns: frame.columns - 4),
            isFramed: true)
    }
}

extension CellArea {
    /// Without so many columns at both sides.
    func inset(_ count: Int) -> CellArea {
        CellArea(row: row, column: column + count, rows: rows, columns: columns - 2 * count)
    }

    /// The first rows, and the rest.
    func split(top count: Int) -> (top: CellArea, rest: CellArea) {
        let count = min(max(0, count), rows)
        return (
            CellArea(row: row, column: column, rows: count, columns: columns),
            CellArea(row: row + count, column: column, rows: rows - count, columns: columns)
        )
    }
}
