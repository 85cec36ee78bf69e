import TerminalKit
import Testing

@testable import ShellFrontend

@Suite("Shell layout") struct ShellLayoutTests {
    private static let sizes = [40, 60, 99, 100, 101, 119, 120, 240, 241, 300].flatMap { columns in
        [15, 16, 24, 50, 100].map { TerminalSize(columns: columns, rows: $0) }
    }

    private static let views = (1...5).map { ViewID(number: $0) }

    /// The pages that there may be: one screen, one with its detail, several, and panels; each with and without a screen
    /// that is pinned, on the page or not, which may have the focus.
    private static var pages: [ShellTabs.Page] {
        var pages: [ShellTabs.Page] = []
        for arrangement in [ShellTabs.Page.Arrangement.alternatives, .panels] {
            for count in 0...4 {
                for hasDetail in [false, true] where !hasDetail || arrangement == .alternatives && count == 1 {
                    var page = ShellTabs.Page(views: Array(views.prefix(count)), arrangement: arrangement)
                    if hasDetail { page.detail = views[3] }
                    for pinned in [nil, views[0], views[4]] {
                        var tabs = ShellTabs([]) { _ in views[0] }
                        tabs.page = page
                        tabs.pin(pinned)
                        pages.append(tabs.page)
                        guard pinned != nil else { continue }
                        tabs.page.isPinFocused = true
                        pages.append(tabs.page)
                    }
                }
            }
        }
        return pages
    }

    @Test("No room is outside of the body or on another one, and each has room inside", arguments: sizes)
    func rooms(size: TerminalSize) {
        for page in Self.pages {
            let layout = ShellLayout(size, page)
            let areas = layout.rooms.map(\.frame) + [layout.divider, layout.empty].compactMap { $0 }
            for (number, area) in areas.enumerated() {
                #expect(area.rows > 0 && area.columns > 0 && area.isIn(layout.body))
                #expect(areas[..<number].allSatisfy { !$0.touches(area) }, "\(size) \(areas)")
            }
            for room in layout.rooms {
                #expect(room.inside.rows >= 0 && room.inside.columns > 0 && room.inside.isIn(room.frame))
            }
            #expect(Set(layout.rooms.map(\.view)).count == layout.rooms.count)
        }
    }

    @Test("A pinned screen has the right half from 100 columns on, and otherwise all of it if it has the focus")
    func halves() {
        var tabs = ShellTabs([]) { _ in Self.views[0] }
        tabs.page = ShellTabs.Page(views: [Self.views[0]])
        tabs.pin(Self.views[4])
        func shown(_ columns: Int) -> [ViewID] {
            ShellLayout(TerminalSize(columns: columns, rows: 24), tabs.page).rooms.map(\.view)
        }
        #expect(shown(100) == [Self.views[0], Self.views[4]] && shown(99) == [Self.views[0]])
        let rooms = ShellLayout(TerminalSize(columns: 100, rows: 24), tabs.page).rooms
        #expect(rooms[0].frame.columns == 49 && rooms[1].frame.column == 50 && rooms[1].frame.columns == 50)
        tabs.page.isPinFocused = true
        #expect(shown(99) == [Self.views[4]] && shown(100) == [Self.views[0], Self.views[4]])
        tabs.pin(nil)
        #expect(shown(99) == [Self.views[0]] && !tabs.page.isPinFocused)
    }
}

extension CellArea {
    fileprivate func isIn(_ other: CellArea) -> Bool {
        row >= other.row && column >= other.column && row + rows <= other.row + other.rows
            && column + columns <= other.column + other.columns
    }

    fileprivate func touches(_ other: CellArea) -> Bool {
        row < other.row + other.rows && other.row < row + rows && column < other.column + other.columns
            && other.column < column + columns
    }
}
