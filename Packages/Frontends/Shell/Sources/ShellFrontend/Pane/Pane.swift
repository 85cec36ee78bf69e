import Capabilities
import JSON
import Screens
import TerminalKit

/// A tree of blocks as rows that scroll, with a cursor on what can be selected.
///
/// Cursor, scroll position and what is folded are kept by the ids of blocks and items, so they stay from value to value.
struct Pane: Sendable {
    /// A section, and what can be done with the blocks around it, the innermost first.
    private struct Part: Sendable {
        var section: any PaneSection
        let links: [Link]
    }

    /// A place among the parts of now.
    private struct Position: Comparable {
        var part: Int
        var item: Int

        static func < (left: Position, right: Position) -> Bool { (left.part, left.item) < (right.part, right.item) }
    }

    /// An item by its ids.
    struct Place: Sendable, Hashable {
        let path: [String]
        let id: String
    }

    private var parts: [Part] = []
    private var block: Block?
    private var columns = 80
    private var look = PaneLook(level: .none, now: Timestamp(microseconds: 0))

    /// The selected item.
    private(set) var cursor: Place?
    /// Where it was among the items when it was last seen, for when it vanishes.
    private var cursorPosition = Position(part: 0, item: 0)
    /// The first item that is seen, and how many of its rows are above.
    private var top = Position(part: 0, item: 0)
    private var hiddenRows = 0
    /// Whether what grows is followed at its end. Only the person changes that.
    private(set) var follows = true
    /// How far a growing section had come when the person left its end.
    private var countBefore = 0
    /// What the person has opened or folded: nodes, collapsible blocks, entries.
    private var toggled: Set<Place> = []
    /// The chosen block of tabs, by their path.
    private var chosenTabs: [[String]: String] = [:]
    /// What is searched for.
    private(set) var search = ""
    private var needsCursor = false
    /// The rows of the last drawing, for clicks.
    private var drawn: [(row: Int, position: Position)] = []
    private var shownRows = 1

    /// The composer of the screen, if it has one. It is drawn below everything else.
    private(set) var composer: (path: [String], composer: Screens.Composer)?

    /// What is written in an empty pane.
    init() {}
}

// MARK: Content

extension Pane {
    /// Shows another value, at a width.
    mutating func show(_ block: Block, columns: Int, _ look: PaneLook) {
        let old = parts
        let topPlace = place(at: top)
        let count = parts.last?.section.count ?? 0
        (self.block, self.columns, self.look) = (block, columns, look)
        parts = []
        composer = nil
        add(block, [block.id], [], isRoot: true)
        for index in parts.indices {
            if let before = old.first(where: { $0.section.path == parts[index].section.path })?.section {
                parts[index].section.adopt(before)
            }
        }
        keepCursor()
        if let topPlace, let position = position(of: topPlace) {
            top = position
        } else {
            top = clamped(top)
        }
        if old.isEmpty { countBefore = parts.last?.section.count ?? 0 } else if follows { countBefore = count }
    }

    /// The same value at another width, or with another look.
    mutating func layOut(columns: Int, _ look: PaneLook) {
        guard let block, columns != self.columns || look != self.look else { return }
        show(block, columns: columns, look)
    }

    private mutating func add(_ block: Block, _ path: [String], _ outer: [Link], isRoot: Bool = false) {
        let links = block.links + outer
        if let title = block.title, !isRoot, !isCollapsible(block) {
            gap()
            add(LineSection(path + ["title"], StyledText(title, Style(.heading, bold: true))), links)
        } else if isSection(block) {
            gap()
        }
        switch block.content {
        case .stack(let stack): for inner in stack.blocks { add(inner, path + [inner.id], links) }
        case .split(let split): for inner in [split.first, split.second] { add(inner, path + [inner.id], links) }
        case .tabs(let tabs): add(tabs, path, links)
        case .collapsible(let collapsible): add(collapsible, block.title ?? block.id, path, links)
        case .table(let table):
            if case .all(let rows) = table.rows { add(TableSection(path, table, rows: rows), links) }
        case .tree(let tree):
            let toggled = toggled
            add(TreeSection(path, tree) { !toggled.contains(Place(path: path, id: $0.id)) }, links)
        case .timeline(let timeline): add(TimelineSection(path, timeline), links)
        case .log(let log): add(LogSection(path, log), links)
        case .transcript(let transcript):
            let ids = toggled.filter { $0.path == path }.map(\.id)
            add(TranscriptSection(path, transcript, toggled: Set(ids)), links)
        case .composer(let composer): self.composer = (path, composer)
        case .form(let form):
            add(
                FormSection(path, form), links)
        case .placeholder(let placeholder):
            add(TextSection(path, block, columns: columns, look), [placeholder.retry].compactMap { $0 } + links)
        case .text, .markdown, .code, .diff, .values, .waterfall, .chart, .gauge, .progress:
            add(TextSection(path, block, columns: columns, look), links)
        }
    }

    private func isCollapsible(_ block: Block) -> Bool { if case .collapsible = block.content { true } else { false } }

    private func isSection(_ block: Block) -> Bool {
        switch block.content {
        case .stack, .split, .composer: false
        default: true
        }
    }

    private mutating func add(_ section: some PaneSection, _ links: [Link]) {
        parts.append(Part(section: section, links: links))
    }

    /// An empty row between two blocks.
    private mutating func gap() {
        guard let last = parts.last?.section.path else { return }
        add(LineSection(last + ["gap"], ""), [])
    }

    private mutating func add(_ tabs: Tabs, _ path: [String], _ links: [Link]) {
        let chosen = tabs.blocks.first { $0.id == chosenTabs[path] } ?? tabs.blocks.first
        var line = StyledText()
        for block in tabs.blocks {
            let isChosen = block.id == chosen?.id
            line.append(isChosen ? "[" : " ", Style(.ring, bold: true))
            line.append(block.title ?? block.id, isChosen ? Style(.ring, bold: true) : Style(.mutedForeground))
            line.append(isChosen ? "]" : " ", Style(.ring, bold: true))
        }
        add(LineSection(path, line, id: "tabs"), links)
        if let chosen { add(chosen, path + [chosen.id], links, isRoot: true) }
    }

    private mutating func add(
        _ collapsible: Collapsible, _ title: String, _ path: [String], _ links: [Link]
    ) {
        let isOpen = collapsible.isOpen != toggled.contains(Place(path: path, id: "fold"))
        let line = StyledText(isOpen ? "▾ " : "▸ ", Style(.mutedForeground)) + StyledText(title, Style(bold: true))
        add(LineSection(path, line, id: "fold"), links)
        if isOpen { add(collapsible.block, path + [collapsible.block.id], links) }
    }

    /// Whether anything in it grows.
    var grows: Bool { parts.contains { $0.section.grows } }

    /// How many entries came at the end since the person left it.
    var news: Int {
        guard !follows, let part = parts.last(where: { $0.section.grows }) else { return 0 }
        return max(0, part.section.count - countBefore)
    }
}

// MARK: Places

extension Pane {
    private func place(at position: Position) -> Place? {
        guard parts.indices.contains(position.part) else { return nil }
        let section = parts[position.part].section
        // An item without an id is found again by its number.
        return Place(path: section.path, id: (id(at: position)) ?? "#\(position.item)")
    }

    private func id(at position: Position) -> String? {
        guard parts.indices.contains(position.part), (0..<parts[position.part].section.count).contains(position.item)
        else { return nil }
        return parts[position.part].section.id(of: position.item)
    }

    private func position(of place: Place) -> Position? {
        guard let part = parts.firstIndex(where: { $0.section.path == place.path }) else { return nil }
        let section = parts[part].section
        if place.id.hasPrefix("#"), let item = Int(place.id.dropFirst()) {
            return Position(part: part, item: min(item, max(0, section.count - 1)))
        }
        return section.item(place.id).map { Position(part: part, item: $0) }
    }

    private func clamped(_ position: Position) -> Position {
        guard !parts.isEmpty else { return Position(part: 0, item: 0) }
        let part = min(max(0, position.part), parts.count - 1)
        return Position(part: part, item: min(max(0, position.item), max(0, parts[part].section.count - 1)))
    }

    private func next(_ position: Position) -> Position? {
        guard parts.indices.contains(position.part) else { return nil }
        if position.item + 1 < parts[position.part].section.count {
            return Position(part: position.part, item: position.item + 1)
        }
        let later = parts.indices.dropFirst(position.part + 1).first { parts[$0].section.count > 0 }
        return later.map { Position(part: $0, item: 0) }
    }

    private func previous(_ position: Position) -> Position? {
        if position.item > 0 { return Position(part: position.part, item: position.item - 1) }
        let earlier = parts.indices.prefix(max(0, position.part)).last { parts[$0].section.count > 0 }
        return earlier.map { Position(part: $0, item: parts[$0].section.count - 1) }
    }

    /// The nearest item that can be selected, from a position on.
    private func selectable(from position: Position?, _ step: (Position) -> Position?) -> Position? {
        var position = position
        while let place = position, id(at: place) == nil { position = step(place) }
        return position
    }

    /// Keeps the cursor on its item. If that is gone, it stays at its place.
    private mutating func keepCursor() {
        if let cursor, let position = position(of: cursor) {
            cursorPosition = position
            return
        }
        let wanted = clamped(cursorPosition)
        if let position = selectable(from: wanted, next) ?? selectable(from: wanted, previous) {
            setCursor(position)
        } else {
            cursor = nil
        }
    }

    private mutating func setCursor(_ position: Position) {
        guard let id = id(at: position) else { return }
        cursorPosition = position
        cursor = Place(path: parts[position.part].section.path, id: id)
    }

    private mutating func rows(at position: Position) -> [StyledText] {
        parts[position.part].section.rows(of: position.item, columns: columns, look)
    }
}

// MARK: Printing

extension Pane {
    /// All items from the first on, with their rows: for a frontend that prints them.
    mutating func allItems() -> [(rows: [StyledText], place: Place?)] {
        var items: [(rows: [StyledText], place: Place?)] = []
        for part in parts.indices {
            for item in 0..<parts[part].section.count {
                let position = Position(part: part, item: item)
                items.append(
                    (rows(at: position), id(at: position).map { Place(path: parts[part].section.path, id: $0) }))
            }
        }
        return items
    }

    /// Selects an item.
    mutating func select(_ place: Place) {
        if let position = position(of: place) { setCursor(position) }
    }
}

// MARK: Moving

extension Pane {
    /// Moves the cursor to the next item in a direction, or scrolls where there is none to be seen.
    mutating func move(down: Bool) {
        follows = false
        let visible = drawn.map(\.position)
        let current = cursor.flatMap { position(of: $0) }
        // The rest of a long item is seen first.
        if let current, visible.contains(current), down ? isCutBelow(current) : isCutAbove(current) {
            return scroll(by: down ? 1 : -1)
        }
        guard let current else { return scroll(by: down ? 1 : -1) }
        let target = selectable(from: down ? next(current) : previous(current), down ? next : previous)
        guard let target else {
            scroll(by: down ? 1 : -1)
            if down && isAtEnd { follow() }
            return
        }
        if isNear(target) {
            setCursor(target)
            needsCursor = true
        } else {
            scroll(by: down ? 1 : -1)
        }
    }

    /// Whether an item is seen, or the next to be seen.
    private func isNear(_ position: Position) -> Bool {
        guard let first = drawn.first?.position, let last = drawn.last?.position else { return true }
        if position >= first && position <= last { return true }
        return position < first
            ? previous(first) == position || next(position) == first
            : next(last).map {
                selectable(from: $0, next) == position
            } ?? false
    }

    private mutating func isCutBelow(_ position: Position) -> Bool {
        let count = rows(at: position).count
        let shown = drawn.count { $0.position == position }
        let hidden = position == top ? hiddenRows : 0
        return shown + hidden < count
    }

    private func isCutAbove(_ position: Position) -> Bool { position == top && hiddenRows > 0 }

    private var isAtEnd: Bool {
        guard let last = drawn.last?.position else { return true }
        return next(last) == nil
    }

    /// Scrolls by rows, down by positive ones.
    mutating func scroll(by count: Int) {
        follows = false
        needsCursor = false
        var left = count
        while left > 0 {
            let height = rows(at: top).count
            if hiddenRows + left < height {
                hiddenRows += left
                left = 0
            } else if let after = next(top) {
                left -= height - hiddenRows
                (top, hiddenRows) = (after, 0)
            } else {
                break
            }
        }
        while left < 0 {
            if hiddenRows >= -left {
                hiddenRows += left
                left = 0
            } else if let before = previous(top) {
                left += hiddenRows + 1
                top = before
                hiddenRows = max(0, rows(at: before).count - 1)
            } else {
                hiddenRows = 0
                break
            }
        }
        stopAtEnd()
    }

    /// Keeps the last row at the bottom, so that nobody scrolls into emptiness.
    private mutating func stopAtEnd() {
        guard let end = endTop(), (top, hiddenRows) > (end.top, end.hidden) else { return }
        (top, hiddenRows) = (end.top, end.hidden)
    }

    private func precedes(_ left: (Position, Int), _ right: (Position, Int)) -> Bool {
        left.0 < right.0 || left.0 == right.0 && left.1 < right.1
    }

    /// The first row that is seen if the last one is at the bottom.
    private mutating func endTop() -> (top: Position, hidden: Int)? {
        guard let last = parts.indices.last(where: { parts[$0].section.count > 0 }) else { return nil }
        var position = Position(part: last, item: parts[last].section.count - 1)
        var left = shownRows
        while true {
            let height = rows(at: position).count
            if height >= left { return (position, height - left) }
            left -= height
            guard let before = previous(position) else { return (position, 0) }
            position = before
        }
    }

    /// Moves by pages, and the cursor with it.
    mutating func page(down: Bool) {
        scroll(by: (down ? 1 : -1) * max(1, shownRows - 1))
        if down && endTop().map({ $0.top == top && $0.hidden == hiddenRows }) == true {
            moveCursor(toEnd: true)
            if grows { follow() }
            return
        }
        var position = top
        if hiddenRows > 0, let after = next(position) { position = after }
        if down == false, top == clamped(Position(part: 0, item: 0)) { position = top }
        if let target = selectable(from: position, next) { setCursor(target) }
    }

    /// Goes to the first row.
    mutating func goToStart() {
        follows = false
        (top, hiddenRows) = (clamped(Position(part: 0, item: 0)), 0)
        if let first = selectable(from: top, next) { setCursor(first) }
    }

    /// Goes to the last row, and follows what grows there.
    mutating func goToEnd() {
        moveCursor(toEnd: true)
        follow()
        if let end = endTop() { (top, hiddenRows) = (end.top, end.hidden) }
    }

    private mutating func moveCursor(toEnd: Bool) {
        guard let last = parts.indices.last(where: { parts[$0].section.count > 0 }) else { return }
        let end = Position(part: last, item: parts[last].section.count - 1)
        if let target = selectable(from: end, previous) { setCursor(target) }
    }

    /// Follows what grows at its end.
    mutating func follow() {
        guard grows else { return }
        follows = true
        countBefore = parts.last(where: { $0.section.grows })?.section.count ?? 0
    }

    /// Selects what is at a row of the last drawing; false if nothing can be selected there.
    mutating func select(row: Int) -> Bool {
        guard let position = drawn.first(where: { $0.row == row })?.position, id(at: position) != nil else {
            return false
        }
        follows = false
        setCursor(position)
        return true
    }

    /// Folds or opens the selected item; false if it cannot be folded.
    mutating func toggle() -> Bool {
        guard let cursor, let position = position(of: cursor), let block else { return false }
        let section = parts[position.part].section
        let isFold = section is LineSection && cursor.id == "fold"
        let isNode = (section as? TreeSection)?.hasChildren(position.item) == true
        guard isFold || isNode || section is TranscriptSection else { return false }
        if toggled.remove(cursor) == nil { toggled.insert(cursor) }
        show(block, columns: columns, look)
        needsCursor = true
        return true
    }

    /// Chooses the next or the previous block of the selected tabs; false if none are selected.
    mutating func turn(forward: Bool) -> Bool {
        guard let cursor, cursor.id == "tabs", let block, let tabs = block.tabs(at: Array(cursor.path.dropFirst()))
        else {
            return false
        }
        let ids = tabs.blocks.map(\.id)
        guard !ids.isEmpty else { return false }
        let now = chosenTabs[cursor.path].flatMap(ids.firstIndex(of:)) ?? 0
        chosenTabs[cursor.path] = ids[(now + (forward ? 1 : ids.count - 1)) % ids.count]
        show(block, columns: columns, look)
        return true
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

    /// What can be done now: with the selected item, then with the blocks around it, then with all others.
    var offers: [Offer] {
        var offers: [Offer] = []
        if let cursor, let position = position(of: cursor) {
            let part = parts[position.part]
            let row = part.section.row(of: position.item)
            offers += part.section.itemLinks.map { Offer(link: $0, row: row) }
            offers += part.links.map { Offer(link: $0, row: [:]) }
        }
        for part in parts { offers += part.links.map { Offer(link: $0, row: [:]) } }
        var seen: Set<Link> = []
        return offers.filter { seen.insert($0.link).inserted }
    }

    /// What Return does: the detail of the selected item, or else the first screen that it leads to.
    var primary: Offer? {
        guard let cursor, let position = position(of: cursor) else { return nil }
        let section = parts[position.part].section
        let row = section.row(of: position.item)
        if let form = section as? FormSection { return Offer(link: form.link, row: [:]) }
        if let detail = section.detail { return Offer(link: detail, row: row) }
        let screen = section.itemLinks.first { if case .screen = $0.target { true } else { false } }
        return screen.map { Offer(link: $0, row: row) }
    }

    /// The detail of the selected item.
    var detail: Offer? {
        guard let cursor, let position = position(of: cursor), let link = parts[position.part].section.detail else {
            return nil
        }
        return Offer(link: link, row: parts[position.part].section.row(of: position.item))
    }

    /// The selected item as text, for copying: what an entry says, or the values of a row.
    var selectedText: String? {
        guard let cursor, let position = position(of: cursor) else { return nil }
        let section = parts[position.part].section
        if let transcript = section as? TranscriptSection { return transcript.text(of: position.item) }
        let row = section.row(of: position.item)
        if let text = row["text"]?.string { return text }
        return row.isEmpty ? nil : row.map { $0.value.string ?? $0.value.text() }.joined(separator: "\t")
    }

    /// The number of the selected row.
    var selectedNumber: Int? { cursor.flatMap { Int($0.id) } }

    /// The form that is selected.
    var form: Form? {
        guard let cursor, let position = position(of: cursor) else { return nil }
        return (parts[position.part].section as? FormSection)?.form
    }
}

// MARK: Search

extension Pane {
    /// Searches for a text, from the cursor on. False if it is not there.
    mutating func find(_ text: String) -> Bool {
        search = text
        return text.isEmpty ? true : find(next: true, fromHere: true)
    }

    /// The next or the previous place with the text; false if it is nowhere.
    mutating func find(next isForward: Bool, fromHere: Bool = false) -> Bool {
        guard !search.isEmpty, !parts.isEmpty else { return false }
        let start = cursor.flatMap { self.position(of: $0) } ?? top
        func step(_ position: Position) -> Position? { isForward ? next(position) : previous(position) }
        var position: Position? = fromHere ? start : step(start)
        var hasTurned = false
        while true {
            guard let place = position else {
                if hasTurned { return false }
                hasTurned = true
                position = isForward ? clamped(Position(part: 0, item: 0)) : clamped(Position(part: .max, item: .max))
                continue
            }
            if hasTurned, isForward ? place > start : place < start { return false }
            if contains(search, at: place) {
                follows = false
                if id(at: place) != nil {
                    setCursor(place)
                    needsCursor = true
                } else {
                    (top, hiddenRows) = (place, 0)
                    stopAtEnd()
                }
                return true
            }
            position = step(place)
        }
    }

    private mutating func contains(_ text: String, at position: Position) -> Bool {
        rows(at: position).contains { $0.plainText.containsInAnyCase(text) }
    }
}

// MARK: Drawing

extension Pane {
    /// Draws the rows that fit, and returns where the cursor is.
    mutating func draw(on cells: inout CellBuffer, _ area: CellArea, isFocused: Bool) -> CellPosition? {
        drawn = []
        guard !parts.isEmpty, !area.isEmpty else { return nil }
        shownRows = area.rows
        top = clamped(top)
        if follows && grows, let end = endTop() {
            (top, hiddenRows) = (end.top, end.hidden)
        } else {
            if needsCursor { showCursor() }
            stopAtEnd()
        }
        needsCursor = false
        var caret: CellPosition?
        var row = area.row
        var position: Position? = top
        var skipped = min(hiddenRows, max(0, rows(at: top).count - 1))
        let selected = cursor.flatMap { self.position(of: $0) }
        while let place = position, row < area.row + area.rows {
            for line in rows(at: place).dropFirst(skipped) where row < area.row + area.rows {
                cells.write(line, row: row, column: area.column, in: area)
                let strip = CellArea(row: row, column: area.column, rows: 1, columns: area.columns)
                if !search.isEmpty { highlight(line, row, area, &cells) }
                if place == selected {
                    if caret == nil { caret = CellPosition(row: row, column: area.column) }
                    if isFocused, !(parts[place.part].section is TranscriptSection) {
                        cells.restyle(strip) { style in
                            style.background = .accent
                            style.bold = true
                        }
                        cells.fillEmpty(strip, Style(background: .accent))
                    }
                }
                drawn.append((row, place))
                row += 1
            }
            skipped = 0
            position = next(place)
        }
        return isFocused ? caret : nil
    }

    private func highlight(_ line: StyledText, _ row: Int, _ area: CellArea, _ cells: inout CellBuffer) {
        let text = line.plainText.lowercased()
        var start = text.startIndex
        while let range = text.range(of: search.lowercased(), from: start) {
            let column = TextWidth.of(text[..<range.lowerBound])
            let width = TextWidth.of(text[range])
            cells.restyle(CellArea(row: row, column: area.column + column, rows: 1, columns: width)) { style in
                style.reverse = true
            }
            start = range.upperBound
        }
    }

    /// Scrolls so that the whole selected item is seen, or its beginning.
    private mutating func showCursor() {
        guard let cursor, let position = position(of: cursor) else { return }
        if (position, 0) < (top, hiddenRows) {
            (top, hiddenRows) = (position, 0)
            return
        }
        // How many rows are above it, as far as they matter.
        var height = rows(at: position).count
        if position == top { height -= hiddenRows }
        var place = position
        while place > top, let before = previous(place) {
            place = before
            height += rows(at: place).count - (place == top ? hiddenRows : 0)
            if height > shownRows { break }
        }
        guard height > shownRows else { return }
        // From its last row upwards.
        var left = shownRows
        place = position
        while true {
            let rows = rows(at: place).count
            if rows >= left {
                (top, hiddenRows) = (place, place == position ? 0 : rows - left)
                return
            }
            left -= rows
            guard let before = previous(place) else { return }
            place = before
        }
    }
}
