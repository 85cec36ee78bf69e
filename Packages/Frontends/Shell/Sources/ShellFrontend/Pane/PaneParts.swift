import Capabilities
import Screens
import TerminalKit

/// The sections that a tree of blocks consists of, and the ways between their items.
struct PaneParts: Sendable {
    /// A section, and what can be done with the blocks around it, the innermost first.
    private struct Part: Sendable {
        var section: any PaneSection
        let links: [Link]
    }

    /// A place among the parts of now.
    struct Position: Sendable, Hashable, Comparable {
        var part: Int
        var item: Int

        static func < (left: Position, right: Position) -> Bool { (left.part, left.item) < (right.part, right.item) }
    }

    /// An item by its ids, which stay from value to value.
    struct Place: Sendable, Hashable {
        let path: [String]
        let id: String
    }

    /// A place that is found again in another value: by its ids, or by its number if the item has no id.
    struct Anchor: Sendable, Hashable {
        let path: [String]
        let id: String?
        let item: Int
        /// How many items its section had.
        let count: Int
    }

    /// Items that are folded or opened together.
    enum FoldKind: Sendable, Hashable {
        /// The entries of an author in the transcript at a path.
        case entries([String], Transcript.Author)
        /// The nodes of the tree at a path.
        case nodes([String])
        /// All collapsible blocks.
        case blocks

        /// What they are called.
        var words: String {
            switch self {
            case .entries(_, .thought): "all thoughts"
            case .entries(_, .tool): "all outputs of tools"
            case .entries: "all entries"
            case .nodes: "all nodes"
            case .blocks: "all blocks with titles"
            }
        }

        /// Whether most of them are folded before the person chooses.
        var isFoldedAtFirst: Bool { if case .nodes = self { false } else { true } }
    }

    /// What the person has chosen.
    struct Choices: Sendable {
        /// What was folded or opened: nodes, collapsible blocks, entries.
        var folds: [Place: Bool] = [:]
        /// What was folded or opened as a whole, also for items that come later. What was chosen for one of them since
        /// counts more.
        var foldsOfKind: [FoldKind: Bool] = [:]
        /// The chosen block of tabs, by their path.
        var tabs: [[String]: String] = [:]
        /// The first column of long lines that were moved sideways, by the path of their section.
        var starts: [[String]: Int] = [:]
    }

    let columns: Int
    /// The time may go on without another layout.
    var look: PaneLook
    private var parts: [Part] = []
    /// The first part with a path.
    private var numbers: [[String]: Int] = [:]
    /// The links of all blocks, the outermost first.
    private(set) var links: [Link] = []
    /// The composer, which is drawn below everything else.
    private(set) var composer: (path: [String], composer: Screens.Composer)?

    private let choices: Choices
    /// The sections of the value before, while these are made.
    private var old: [[String]: any PaneSection] = [:]

    /// The id of the row of tabs, and that of the head of a collapsible block.
    static let tabs = "tabs"
    static let fold = "fold"

    /// The parts of a block.
    ///
    /// - Parameters:
    ///   - notice: what is said above it.
    ///   - old: those of the value before, of which layouts are kept.
    init(
        _ block: Block, below notice: Block? = nil, columns: Int, _ look: PaneLook, _ choices: Choices = Choices(),
        after old: PaneParts? = nil
    ) {
        (self.columns, self.look, self.choices) = (max(1, columns), look, choices)
        for part in old?.parts ?? [] { self.old[part.section.path] = part.section }
        if let notice { add(notice, ["\u{0}notice", notice.id], [], hasTitle: false) }
        add(block, [block.id], [], hasTitle: false)
        self.old = [:]
        for (number, part) in parts.enumerated() where numbers[part.section.path] == nil {
            numbers[part.section.path] = number
        }
    }

    var isEmpty: Bool { parts.isEmpty }

    // MARK: Reading

    func section(at position: Position) -> any PaneSection { parts[position.part].section }
    func links(at position: Position) -> [Link] { parts[position.part].links }

    /// The position after the newest entry, if the last of all grows at its end, or if there is a conversation: what is
    /// below one is about its newest part.
    var end: Int? {
        last.flatMap { parts[$0.part].section.end } ?? parts.last { $0.section is TranscriptSection }?.section.end
    }

    mutating func height(at position: Position) -> Int {
        max(1, parts[position.part].section.height(of: position.item, columns: columns, look))
    }

    mutating func rows(at position: Position, _ range: Range<Int>) -> [StyledText] {
        parts[position.part].section.rows(of: position.item, range, columns: columns, look)
    }

    mutating func isFolded(at position: Position) -> Bool? {
        parts[position.part].section.isFolded(position.item, columns: columns, look)
    }

    /// The newest code block.
    var lastCode: Markdown.FencedBlock? { parts.reversed().lazy.compactMap { $0.section.code(of: nil) }.first }

    /// What is folded together where nothing is selected: the thoughts of a conversation, or else what comes last.
    var foldKind: FoldKind? {
        let kinds = parts.reversed().lazy.compactMap { $0.section.foldKind(of: nil) }
        return kinds.first { if case .entries = $0 { true } else { false } } ?? kinds.first
    }

    /// Whether the choice for one item was one for an item of a kind. It may be folded away itself.
    func isChoice(_ place: Place, of kind: FoldKind) -> Bool {
        switch kind {
        case .nodes(let path): return place.path == path
        case .entries(let path, _):
            guard place.path == path, let part = numbers[path] else { return false }
            return parts[part].section.item(place.id).map { parts[part].section.foldKind(of: $0) == kind } ?? false
        case .blocks:
            return place.id == Self.fold && numbers[place.path].map { parts[$0].section is LineSection } ?? true
        }
    }

    // MARK: Places

    func contains(_ position: Position) -> Bool {
        parts.indices.contains(position.part) && (0..<parts[position.part].section.count).contains(position.item)
    }

    func id(at position: Position) -> String? {
        contains(position) ? parts[position.part].section.id(of: position.item) : nil
    }

    func place(at position: Position) -> Place? {
        id(at: position).map { Place(path: parts[position.part].section.path, id: $0) }
    }

    func anchor(at position: Position) -> Anchor? {
        guard contains(position) else { return nil }
        let section = parts[position.part].section
        return Anchor(
            path: section.path, id: section.id(of: position.item), item: position.item, count: section.count)
    }

    /// Where an item is now.
    ///
    /// - Parameter hint: where it was; there it is found at once.
    func position(of place: Place, near hint: Position) -> Position? {
        if contains(hint), parts[hint.part].section.path == place.path, id(at: hint) == place.id { return hint }
        guard let part = numbers[place.path] else { return nil }
        return parts[part].section.item(place.id).map { Position(part: part, item: $0) }
    }

    func position(of anchor: Anchor, near hint: Position) -> Position? {
        if let id = anchor.id { return position(of: Place(path: anchor.path, id: id), near: hint) }
        guard let part = numbers[anchor.path], parts[part].section.count > 0 else { return nil }
        let count = parts[part].section.count
        // Text has other rows at another width.
        let isText = parts[part].section is TextSection
        let item = isText && anchor.count != count ? anchor.item * count / max(1, anchor.count) : anchor.item
        return Position(part: part, item: min(item, count - 1))
    }

    var first: Position? { parts.firstIndex { $0.section.count > 0 }.map { Position(part: $0, item: 0) } }

    var last: Position? {
        parts.lastIndex { $0.section.count > 0 }.map { Position(part: $0, item: parts[$0].section.count - 1) }
    }

    /// The nearest position that exists; nil if there is none.
    func clamped(_ position: Position) -> Position? {
        if contains(position) { return position }
        guard let last else { return nil }
        let part = min(max(0, position.part), last.part)
        let count = parts[part].section.count
        guard count > 0 else { return next(Position(part: part, item: 0)) }
        return Position(part: part, item: min(max(0, position.item), count - 1))
    }

    func next(_ position: Position) -> Position? {
        guard parts.indices.contains(position.part) else { return nil }
        if position.item + 1 < parts[position.part].section.count {
            return Position(part: position.part, item: position.item + 1)
        }
        let later = parts.indices.dropFirst(position.part + 1).first { parts[$0].section.count > 0 }
        return later.map { Position(part: $0, item: 0) }
    }

    func previous(_ position: Position) -> Position? {
        if position.item > 0 { return Position(part: position.part, item: position.item - 1) }
        let earlier = parts.indices.prefix(max(0, position.part)).last { parts[$0].section.count > 0 }
        return earlier.map { Position(part: $0, item: parts[$0].section.count - 1) }
    }

    func step(_ position: Position, down: Bool) -> Position? { down ? next(position) : previous(position) }

    /// The nearest item that can be selected, from a position on.
    func selectable(from position: Position?, down: Bool) -> Position? {
        var position = position
        while let place = position, id(at: place) == nil {
            // A long text is passed by as a whole.
            let section = parts[place.part].section
            let edge = section.isSelectable ? place.item : down ? max(0, section.count - 1) : 0
            position = step(Position(part: place.part, item: edge), down: down)
        }
        return position
    }

    // MARK: Long lines

    /// Changes the section at a position if its lines may be long; nil if they may not be.
    mutating func withWideSection<Result>(
        at position: Position, _ body: (inout any WideSection, _ columns: Int, PaneLook) -> Result
    ) -> Result? {
        guard contains(position), var section = parts[position.part].section as? any WideSection else { return nil }
        defer { parts[position.part].section = section }
        return body(&section, columns, look)
    }

    /// Whether there is more of an item than is seen, apart from its beginning.
    mutating func isCut(at position: Position) -> Bool {
        withWideSection(at: position) { $0.isCut(position.item, columns: $1, $2) } ?? false
    }

    /// All rows of an item, with whole lines where a pane would show a part of them.
    mutating func wholeRows(at position: Position) -> [StyledText] {
        let line = withWideSection(at: position) { section, columns, look in
            type(of: section).fitsLines ? nil : section.wholeLine(of: position.item, columns: columns, look)
        }
        if let line = line ?? nil { return [line] }
        return rows(at: position, 0..<height(at: position))
    }

    // MARK: Search

    func contains(_ search: SearchText) -> Bool { first.map { next(search, from: $0, forward: true) != nil } ?? false }

    /// The next item with a text in itself or folded away below it, from a position on.
    func next(_ search: SearchText, from start: Position, forward: Bool) -> Position? {
        var position: Position? = start
        while let place = position {
            let section = parts[place.part].section
            if let item = section.item(with: search, from: place.item, forward: forward, look) {
                return Position(part: place.part, item: item)
            }
            position =
                forward
                ? next(Position(part: place.part, item: section.count)) : previous(Position(part: place.part, item: 0))
        }
        return nil
    }

    /// Whether a text is in what is folded away below an item.
    func isFoldedAway(_ search: SearchText, below position: Position) -> Bool {
        parts[position.part].section.isFoldedAway(search, below: position.item, look)
    }
}

// MARK: Making them

extension PaneParts {
    private mutating func add(_ block: Block, _ path: [String], _ outer: [Link], hasTitle: Bool = true) {
        let links = block.links + outer
        self.links += block.links
        let (hasHead, hasRows) = (isCollapsible(block), isDrawn(block))
        if hasTitle, let title = block.title, !hasHead {
            gap()
            add(LineSection(path + ["\u{0}title"], StyledText(title, Style(.heading, bold: true)).onOneLine), links)
        } else if hasRows {
            gap()
        }
        switch block.content {
        case .stack, .split:
            if BlockRows.isBeside(block, columns: columns) {
                let inner = block.children.flatMap(\.allLinks)
                self.links += inner
                return addText(block, path, links + inner)
            }
            for inner in block.children { add(inner, path + [inner.id], links) }
        case .tabs(let tabs): add(tabs, path, links)
        case .collapsible(let collapsible): add(collapsible, block.title ?? block.id, path, links)
        case .table(let table):
            if case .all(let rows) = table.rows {
                add(TableSection(path, table, rows: rows, start: choices.starts[path]), links)
            }
        case .tree(let tree):
            let (folds, all) = (choices.folds, choices.foldsOfKind[.nodes(path)])
            let section = TreeSection(path, tree, start: choices.starts[path]) {
                (folds[Place(path: path, id: $0.id)] ?? all) != true
            }
            add(section, links)
        case .timeline(let timeline): add(TimelineSection(path, timeline, start: choices.starts[path]), links)
        case .log(let log): add(LogSection(path, log, start: choices.starts[path]), links)
        case .code, .diff:
            add(CodeSection(path, block, start: choices.starts[path], look, after: old[path]), links)
        case .transcript(let transcript):
            let folds = choices.folds.filter { $0.key.path == path }.map { ($0.key.id, $0.value) }
            let byID = Dictionary(folds, uniquingKeysWith: { $1 })
            let all = choices.foldsOfKind.compactMap { kind, isFolded -> (Transcript.Author, Bool)? in
                if case .entries(path, let author) = kind { (author, isFolded) } else { nil }
            }
            add(
                TranscriptSection(
                    path, transcript, folds: byID, foldsOfAuthor: Dictionary(all, uniquingKeysWith: { $1 }),
                    after: old[path]), links)
        case .composer(let composer): self.composer = (path, composer)
        case .form(let form): add(FormSection(path, form), links)
        case .placeholder(let placeholder):
            let retry = [placeholder.retry].compactMap { $0 }
            self.links += retry
            addText(block, path, retry + links)
        case .text, .markdown, .values, .waterfall, .chart, .gauge, .progress:
            addText(block, path, links)
        }
    }

    private func isCollapsible(_ block: Block) -> Bool { if case .collapsible = block.content { true } else { false } }

    /// Whether it has rows of its own, and not only those of the blocks in it.
    private func isDrawn(_ block: Block) -> Bool {
        switch block.content {
        case .stack, .split: BlockRows.isBeside(block, columns: columns)
        case .composer: false
        case .table(let table): if case .all = table.rows { true } else { false }
        default: true
        }
    }

    private mutating func add(_ section: some PaneSection, _ links: [Link]) {
        parts.append(Part(section: section, links: links))
    }

    private mutating func addText(_ block: Block, _ path: [String], _ links: [Link]) {
        add(TextSection(path, block, columns: columns, look, after: old[path]), links)
    }

    /// An empty row between two blocks, but not below a title.
    private mutating func gap() {
        guard let last = parts.last?.section.path, last.last != "\u{0}title" else { return }
        add(LineSection(last + ["\u{0}gap"], ""), [])
    }

    private mutating func add(_ tabs: Tabs, _ path: [String], _ links: [Link]) {
        let number = tabs.blocks.firstIndex { $0.id == choices.tabs[path] } ?? 0
        // The chosen one is always seen, and so is that there are more.
        var first = 0
        while first < number, Self.line(of: tabs.blocks[first...number], chosen: number).width >= columns { first += 1 }
        add(LineSection(path, Self.line(of: tabs.blocks[first...], chosen: number), id: Self.tabs), links)
        guard tabs.blocks.indices.contains(number) else { return }
        add(tabs.blocks[number], path + [tabs.blocks[number].id], links, hasTitle: false)
    }

    private static func line(of blocks: ArraySlice<Block>, chosen: Int) -> StyledText {
        var line = StyledText()
        for (number, block) in zip(blocks.indices, blocks) {
            let isChosen = number == chosen
            line.append(isChosen ? "[" : " ", Style(.ring, bold: true))
            line.append(block.title ?? block.id, isChosen ? Style(.ring, bold: true) : Style(.mutedForeground))
            line.append(isChosen ? "]" : " ", Style(.ring, bold: true))
        }
        return line.onOneLine
    }

    private mutating func add(
        _ collapsible: Collapsible, _ title: String, _ path: [String], _ links: [Link]
    ) {
        let isFolded =
            choices.folds[Place(path: path, id: Self.fold)] ?? choices.foldsOfKind[.blocks] ?? !collapsible.isOpen
        let mark = StyledText(isFolded ? "▸ " : "▾ ", Style(.mutedForeground))
        let line = mark + StyledText(title, Style(bold: true)).onOneLine
        add(
            LineSection(
                path, line, id: Self.fold, isFolded: isFolded, folded: isFolded ? collapsible.block : nil), links)
        if !isFolded { add(collapsible.block, path + [collapsible.block.id], links) }
    }
}
