import Capabilities
import JSON
import Screens
import TerminalKit

/// A tree of blocks as rows that scroll, with a cursor on what can be selected.
///
/// Cursor, scroll position and what is folded are kept by the ids of blocks and items, so they stay from value to value.
struct Pane: Sendable {
    typealias Position = PaneParts.Position
    typealias Place = PaneParts.Place
    typealias Anchor = PaneParts.Anchor

    private var window = PaneWindow()
    private var block: Block?
    /// What is above it.
    private var notice: Block?
    private var choices = PaneParts.Choices()
    /// When the rows were made that say how long ago something was.
    private var shownAt = Timestamp(microseconds: 0)

    /// The selected item.
    private(set) var cursor: Place?
    /// Whether the item that the person had selected has vanished, and nobody has seen yet which one is selected now.
    private(set) var hasLostRow = false
    /// Where it was among the items when it was last seen, for when it vanishes.
    private var cursorPosition = Position(part: 0, item: 0)
    private var searching = PaneSearch()
    /// Whether the selected item is to be seen, because it was before another value came.
    private var needsCursor = false
    private var seesCursor = false
    /// Whether the rest of a long line was out of sight in the last drawing.
    private(set) var isCut = false
    /// Whether the selected item was folded in the last drawing; nil if it could not be.
    private(set) var isSelectedFolded: Bool?
    /// The rows of the last drawing, for clicks, and for when the topmost item vanishes.
    private var drawn: [(row: Int, anchor: Anchor)] = []

    /// Nothing is in it yet.
    init() {}

    private var parts: PaneParts? { window.parts }

    /// The composer of the screen, if it has one. It is drawn below everything else.
    var composer: (path: [String], composer: Screens.Composer)? { parts?.composer }

    /// What is searched for.
    var search: String { searching.text }

    /// Whether it grows at its end.
    var grows: Bool { window.grows }

    /// Whether what grows is followed at its end. Only the person changes that.
    var follows: Bool { window.follows }

    /// How many entries came at the end since the person left it.
    var news: Int { window.news }
}

// MARK: Content

extension Pane {
    /// Shows another value, at a width.
    ///
    /// - Parameter notice: what is said above it, such as why it is not newer. All else stays where it is.
    mutating func show(_ block: Block, below notice: Block? = nil, columns: Int, _ look: PaneLook) {
        let new = PaneParts(block, below: notice, columns: columns, look, choices, after: parts)
        (self.block, self.notice, shownAt) = (block, notice, look.now)
        window.show(new, drawn: drawn.map(\.anchor))
        keepCursor()
        needsCursor = seesCursor
        if follows && grows { moveCursor(toEnd: true) }
    }

    /// The same value at another width, or with another look.
    mutating func layOut(columns: Int, _ look: PaneLook) {
        guard let block, let parts else { return }
        let isSame = parts.columns == max(1, columns) && parts.look.level == look.level
        if isSame, abs(look.now.microseconds - shownAt.microseconds) < 1_000_000 {
            // The time goes on with each frame, and what depends on it is at most a second behind.
            window.setLook(look)
        } else {
            show(block, below: notice, columns: columns, look)
        }
    }
}

// MARK: The cursor

extension Pane {
    /// Brings the first row to where it belongs, and the selected item into view if it has to be seen.
    private mutating func settle() {
        window.settle(showing: needsCursor ? selected : nil)
        needsCursor = false
    }

    private var selected: Position? {
        guard let cursor, let parts else { return nil }
        return parts.position(of: cursor, near: cursorPosition)
    }

    /// Keeps the cursor on its item. If that is gone, it stays at its place.
    private mutating func keepCursor() {
        guard let parts else { return }
        if let position = selected {
            cursorPosition = position
            return
        }
        hasLostRow = cursor != nil
        cursor = nil
        guard let wanted = parts.clamped(cursorPosition),
            let position = parts.selectable(from: wanted, down: true) ?? parts.selectable(from: wanted, down: false)
        else { return }
        setCursor(position)
    }

    private mutating func setCursor(_ position: Position) {
        guard let place = parts?.place(at: position) else { return }
        (cursorPosition, cursor, searching.found) = (position, place, nil)
    }

    private mutating func moveCursor(toEnd: Bool) {
        guard let parts, let position = parts.selectable(from: toEnd ? parts.last : parts.first, down: !toEnd) else {
            return
        }
        setCursor(position)
    }
}

// MARK: Printing

extension Pane {
    /// All items from the first on, with their rows: for a frontend that prints them.
    mutating func allItems() -> [(rows: [StyledText], place: Place?)] {
        window.withParts { parts in
            var items: [(rows: [StyledText], place: Place?)] = []
            var position = parts.first
            while let item = position {
                items.append((parts.wholeRows(at: item), parts.place(at: item)))
                position = parts.next(item)
            }
            return items
        } ?? []
    }

    /// Selects an item.
    mutating func select(_ place: Place) {
        if let position = parts?.position(of: place, near: cursorPosition) { setCursor(position) }
    }
}

// MARK: Moving

extension Pane {
    /// Moves the cursor to the next item in a direction, or scrolls where there is none to be seen.
    mutating func move(down: Bool) {
        settle()
        let seen = window.seen()
        guard let parts, let first = seen.first, let last = seen.last else { return }
        guard let current = selected else { return scrollByKey(down) }
        guard let part = seen.first(where: { $0.position == current }) else {
            // The cursor was left behind by scrolling, and comes back to what is seen.
            func nearest(_ seen: [PaneWindow.Seen]) -> Position? {
                let positions = seen.map(\.position).filter { parts.id(at: $0) != nil }
                return down ? positions.first : positions.last
            }
            var position = nearest(seen)
            if position == nil {
                scrollByKey(down)
                position = nearest(window.seen())
            }
            guard let position else { return }
            if !down { window.stopFollowing() }
            return setCursor(position)
        }
        // The rest of a long item is seen first.
        if down ? part.isCutBelow : part.hidden > 0 { return scrollByKey(down) }
        guard let target = parts.selectable(from: parts.step(current, down: down), down: down) else {
            return scrollByKey(down)
        }
        // Text between two items is read before the next one is selected.
        let edge = down ? last.position : first.position
        let isSeen = seen.contains { $0.position == target }
        guard isSeen || parts.isNear(edge, target, down: down) else { return scrollByKey(down) }
        if !down { window.stopFollowing() }
        setCursor(target)
        window.reveal(target, 0..<(window.height(of: target) ?? 1))
        if !down, let part = window.seen().first(where: { $0.position == target }), part.isCutBelow {
            // The end of a long item comes first on the way up.
            let end = window.top(with: part.height, atBottomOf: target)
            if window.top < end { window.begin(at: end) }
        }
    }

    private mutating func scrollByKey(_ down: Bool) { scroll(by: down ? 1 : -1) }

    /// Scrolls by rows, down by positive ones.
    mutating func scroll(by count: Int) {
        settle()
        seesCursor = false
        let before = window.top
        window.scroll(by: count)
        if count > 0, window.isAtEnd { follow() } else if window.top != before { window.stopFollowing() }
    }

    /// Moves by pages, and the cursor with it.
    mutating func page(down: Bool) {
        scroll(by: (down ? 1 : -1) * max(1, window.rows - 1))
        if down && window.isAtEnd { return moveCursor(toEnd: true) }
        if !down && window.isAtStart { return moveCursor(toEnd: false) }
        let seen = window.seen().filter { parts?.id(at: $0.position) != nil }
        // The first one that is seen from its beginning.
        if let item = seen.first(where: { $0.hidden == 0 }) ?? seen.first { setCursor(item.position) }
    }

    /// Goes to the first row.
    mutating func goToStart() {
        window.stopFollowing()
        window.goToStart()
        moveCursor(toEnd: false)
    }

    /// Goes to the last row, and follows what grows there.
    mutating func goToEnd() {
        moveCursor(toEnd: true)
        follow()
        window.goToEnd()
    }

    /// Follows what grows at its end.
    mutating func follow() {
        guard grows else { return }
        window.follows = true
        moveCursor(toEnd: true)
    }

    /// Selects what is at a row of the last drawing; false if nothing can be selected there.
    mutating func select(row: Int) -> Bool {
        guard let parts, let anchor = drawn.first(where: { $0.row == row })?.anchor, anchor.id != nil,
            let position = parts.position(of: anchor, near: cursorPosition)
        else { return false }
        if position != parts.selectable(from: parts.last, down: false) { window.stopFollowing() }
        setCursor(position)
        return true
    }

    /// Moves long lines sideways: those of the selected item's block, or else of the first one that is seen and can be
    /// moved. False if there is none.
    mutating func scrollSideways(forward: Bool) -> Bool {
        settle()
        var seen = window.seen().map(\.position)
        // They begin with the selected one.
        let start = selected.flatMap { selected in seen.firstIndex { $0.part == selected.part } } ?? 0
        seen = Array(seen[start...] + seen[..<start])
        let item = window.withParts { parts in
            seen.first { item in
                if forward { return parts.isCut(at: item) }
                return parts.withWideSection(at: item) { section, _, _ in section.start != nil } == true
            }
        }
        guard let item = item ?? nil else { return false }
        changeWideSection(at: item) { section, columns, _ in section.move(forward: forward, columns: columns) }
        return true
    }

    private mutating func changeWideSection(
        at item: Position, _ body: (inout any WideSection, _ columns: Int, PaneLook) -> Void
    ) {
        let moved = window.withParts { parts in
            parts.withWideSection(at: item) { section, columns, look in
                body(&section, columns, look)
                return (path: section.path, start: section.start)
            }
        }
        if let moved = moved ?? nil { choices.starts[moved.path] = moved.start }
    }

    /// Folds or opens the selected item; false if it cannot be folded.
    mutating func toggle() -> Bool {
        settle()
        guard let position = selected, let isFolded = self.isFolded(position) else { return false }
        fold(position, !isFolded)
        if let position = selected { showHead(of: position) }
        return true
    }

    /// Folds or opens everything that is of the selected item's kind, or else the thoughts of a conversation, and what
    /// comes later too. Returns what, and whether it is folded now; nil if nothing can be folded.
    mutating func toggleAll() -> (kind: PaneParts.FoldKind, isFolded: Bool)? {
        settle()
        guard let before = parts else { return nil }
        // Where the end is followed, the person has not chosen what is selected.
        let chosen = follows && grows ? nil : selection
        let own = chosen == nil ? nil : selectedKind
        guard let kind = own ?? before.foldKind else { return nil }
        let wasFolded = own == nil ? nil : chosen.flatMap { self.isFolded($0.position) }
        let isFolded = !(wasFolded ?? choices.foldsOfKind[kind] ?? kind.isFoldedAtFirst)
        let (followed, old) = (follows && grows, cursorPosition)
        choose { choices in
            choices.foldsOfKind[kind] = isFolded
            choices.folds = choices.folds.filter { !before.isChoice($0.key, of: kind) }
        }
        if followed {
            follow()
        } else {
            if hasLostRow { selectAbove(old, in: before) }
            if let position = selected { showHead(of: position) }
        }
        return (kind, isFolded)
    }

    /// Whether an item is folded; nil if it cannot be.
    private mutating func isFolded(_ position: Position) -> Bool? {
        window.withParts { $0.isFolded(at: position) } ?? nil
    }

    /// Selects what an item was folded away into: the nearest item above it that is still there.
    private mutating func selectAbove(_ item: Position, in before: PaneParts) {
        var above = before.previous(item)
        while let place = above {
            if let id = before.place(at: place), let position = parts?.position(of: id, near: place) {
                return setCursor(position)
            }
            above = before.previous(place)
        }
    }

    /// The head of a long item stays where it is when it is folded or opened.
    private mutating func showHead(of position: Position) {
        if position == window.top.item { window.begin(at: PaneWindow.Top(item: position, hidden: 0)) }
        window.reveal(position, 0..<(window.height(of: position) ?? 1))
    }

    private mutating func fold(_ position: Position, _ isFolded: Bool) {
        guard let place = parts?.place(at: position) else { return }
        choose { $0.folds[place] = isFolded }
    }

    /// Shows the same value with other choices. The person looks at what was chosen, and not at the end of what grows.
    private mutating func choose(_ change: (inout PaneParts.Choices) -> Void) {
        guard let parts, let block else { return }
        change(&choices)
        let followed = window.follows
        window.follows = false
        show(block, below: notice, columns: parts.columns, parts.look)
        window.follows = followed
        window.stopFollowing()
    }

    /// Chooses the next or the previous block of the selected tabs; false if none are selected.
    mutating func turn(forward: Bool) -> Bool {
        guard let cursor, cursor.id == PaneParts.tabs, let block,
            let tabs = block.tabs(at: Array(cursor.path.dropFirst()))
        else { return false }
        let ids = tabs.blocks.map(\.id)
        guard !ids.isEmpty else { return false }
        let now = choices.tabs[cursor.path].flatMap(ids.firstIndex(of:)) ?? 0
        choose { $0.tabs[cursor.path] = ids[(now + (forward ? 1 : ids.count - 1)) % ids.count] }
        return true
    }
}

extension PaneParts {
    /// Whether nothing is between two items but rows like an empty one or a title.
    fileprivate func isNear(_ edge: Position, _ target: Position, down: Bool) -> Bool {
        var position: Position? = edge
        for _ in 0..<3 {
            position = position.flatMap { step($0, down: down) }
            if position == target { return true }
        }
        return false
    }
}

extension Block {
    fileprivate func tabs(at path: [String]) -> Tabs? {
        guard let first = path.first else { if case .tabs(let tabs) = content { return tabs } else { return nil } }
        return children.first { $0.id == first }?.tabs(at: Array(path.dropFirst()))
    }
}

// MARK: What can be done

extension Pane {
    /// A link, and the row that it takes its arguments from.
    struct Offer: Sendable {
        let link: Link
        let row: JSONObject

        var arguments: JSONObject { link.arguments(for: row) }
    }

    /// The selected item.
    private var selection: (section: any PaneSection, position: Position)? {
        guard let parts, let position = selected else { return nil }
        return (parts.section(at: position), position)
    }

    /// What can be done now: with the selected item, then with the blocks around it, then with all others.
    var offers: [Offer] {
        var offers: [Offer] = []
        if let parts, let (section, position) = selection {
            let row = section.row(of: position.item)
            offers += section.itemLinks.map { Offer(link: $0, row: row) }
            offers += parts.links(at: position).map { Offer(link: $0, row: [:]) }
        }
        offers += (parts?.links ?? []).map { Offer(link: $0, row: [:]) }
        var seen: Set<Link> = []
        return offers.filter { seen.insert($0.link).inserted }
    }

    /// What Return does: the detail of the selected item, or else the first screen that it leads to.
    var primary: Offer? {
        guard let (section, position) = selection else { return nil }
        if let form = section as? FormSection { return Offer(link: form.link, row: [:]) }
        let row = section.row(of: position.item)
        if let detail = section.detail { return Offer(link: detail, row: row) }
        let screen = section.itemLinks.first { if case .screen = $0.target { true } else { false } }
        return screen.map { Offer(link: $0, row: row) }
    }

    /// The detail of the selected item.
    var detail: Offer? {
        guard let (section, position) = selection, let link = section.detail else { return nil }
        return Offer(link: link, row: section.row(of: position.item))
    }

    /// The selected item as text, for copying: what an entry says, or the values of a row.
    var selectedText: String? {
        guard let (section, position) = selection else { return nil }
        if let text = section.copiedText(of: position.item) { return text }
        let row = section.row(of: position.item)
        if let text = row["text"]?.string { return text }
        return row.isEmpty ? nil : row.map { $0.value.string ?? $0.value.text() }.joined(separator: "\t")
    }

    /// The last code block of the selected item, or else the newest one that is anywhere.
    var lastCode: Markdown.FencedBlock? {
        selection.flatMap { $0.section.code(of: $0.position.item) } ?? parts?.lastCode
    }

    /// The number of the selected row.
    var selectedNumber: Int? { cursor.flatMap { Int($0.id) } }

    /// What is folded together with the selected item.
    var selectedKind: PaneParts.FoldKind? { selection.flatMap { $0.section.foldKind(of: $0.position.item) } }

    /// The form that is selected.
    var form: Form? { (selection?.section as? FormSection)?.form }
}

// MARK: Search

extension Pane {
    /// Searches for a text, from the cursor on, or from the first row that is seen. False if it is not there.
    mutating func find(_ text: String) -> Bool {
        searching = PaneSearch(text, found: searching.found)
        return text.isEmpty ? true : find(next: true, fromHere: true)
    }

    /// The next or the previous place with the text; false if it is nowhere. What is folded there is opened.
    mutating func find(next isForward: Bool, fromHere: Bool = false) -> Bool {
        settle()
        var step = searching.next(from: selected, forward: isForward, fromHere: fromHere, in: &window)
        if step != nil { window.stopFollowing() }
        while case .folded(let folded)? = step {
            fold(folded.item, false)
            step = searching.next(after: folded, forward: isForward, in: &window)
        }
        guard case .found(let item, let row)? = step else { return false }
        goTo(item, row)
        return true
    }

    private mutating func goTo(_ position: Position, _ row: Int) {
        guard let anchor = parts?.anchor(at: position), let height = window.height(of: position) else { return }
        window.stopFollowing()
        setCursor(position)
        searching.found = (anchor, row)
        let wanted = searching.wanted
        changeWideSection(at: position) { $0.show(wanted, in: position.item, columns: $1, $2) }
        (seesCursor, needsCursor) = (anchor.id != nil, false)
        // With the rows around it.
        window.reveal(position, max(0, row - 2)..<min(height, row + 3))
        window.reveal(position, row..<row + 1)
    }
}

// MARK: Drawing

extension Pane {
    /// Draws the rows that fit, and returns where the cursor is.
    mutating func draw(on cells: inout CellBuffer, _ area: CellArea, isFocused: Bool) -> CellPosition? {
        hasLostRow = false
        drawn = []
        (seesCursor, isCut, isSelectedFolded) = (false, false, nil)
        guard parts != nil, !area.isEmpty else { return nil }
        window.rows = area.rows
        settle()
        let shown = window.shown()
        isSelectedFolded = self.selected.flatMap { isFolded($0) }
        isCut = window.withParts { parts in shown.contains { parts.isCut(at: $0.item.position) } } ?? false
        guard let parts else { return nil }
        let wanted = search.isEmpty ? nil : searching.wanted
        let selected = cursor.flatMap { parts.position(of: $0, near: cursorPosition) }
        var caret: CellPosition?
        var row = area.row
        for (item, lines) in shown {
            guard let anchor = parts.anchor(at: item.position) else { continue }
            let isSelected = item.position == selected
            // While the end is followed nobody has chosen the row there, and the bar would be painted for each new one.
            let isFollowed = follows && parts.section(at: item.position).end != nil
            let isMarked =
                isSelected && isFocused && !isFollowed && parts.section(at: item.position).marksSelection
            let first = row
            for line in lines {
                cells.write(line, row: row, column: area.column, in: area)
                if let wanted { cells.mark(wanted, in: line, row: row, area) }
                if isMarked {
                    let strip = CellArea(row: row, column: area.column, rows: 1, columns: area.columns)
                    cells.restyle(strip) { style in
                        style.background = .accent
                        style.bold = true
                    }
                    cells.fillEmpty(strip, Style(background: .accent))
                }
                drawn.append((row, anchor))
                row += 1
            }
            guard isSelected else { continue }
            seesCursor = true
            // Where the text was found, or else the first row that is seen.
            let place = searching.found.flatMap { $0.anchor == anchor ? $0.row - item.hidden : nil } ?? 0
            caret = CellPosition(row: (0..<item.count).contains(place) ? first + place : first, column: area.column)
        }
        return isFocused ? caret : nil
    }
}
