import Capabilities
import JSON
import Screens
import TerminalForms
import TerminalKit

/// What the rows of a pane depend on besides the blocks.
struct PaneLook: Sendable, Equatable {
    /// The colours of the terminal.
    var level: ColorLevel
    /// The time that ages are counted from.
    var now: Timestamp

    func form(columns: Int) -> TextForm {
        var form = TextForm(level: level, width: max(1, columns), clock: LocalClock(now: now))
        form.isDense = true
        form.hasLinks = true
        return form
    }
}

/// A block in a pane: items below each other, each of one row or more. Rows are made when they are drawn, so that a long
/// block costs no more than a short one.
protocol PaneSection: Sendable {
    /// The ids of the blocks that lead to it.
    var path: [String] { get }
    /// How many items it has.
    var count: Int { get }
    /// How many rows an item has; at least one.
    mutating func height(of item: Int, columns: Int, _ look: PaneLook) -> Int
    /// Some of the rows of an item, as far as it has them.
    mutating func rows(of item: Int, _ range: Range<Int>, columns: Int, _ look: PaneLook) -> [StyledText]
    /// The whole text of an item, also what its rows leave out.
    func text(of item: Int, _ look: PaneLook) -> String
    /// The next item with a text in itself or folded away below it, from an item on.
    func item(with search: SearchText, from item: Int, forward: Bool, _ look: PaneLook) -> Int?
    /// Whether a text is in what is folded away below an item.
    func isFoldedAway(_ search: SearchText, below item: Int, _ look: PaneLook) -> Bool
    /// Whether an item is folded; nil if it cannot be.
    mutating func isFolded(_ item: Int, columns: Int, _ look: PaneLook) -> Bool?
    /// What is folded together with an item; without an item, what is folded if none is selected. Nil if nothing is.
    func foldKind(of item: Int?) -> PaneParts.FoldKind?
    /// The id of an item that can be selected; nil for one that cannot.
    func id(of item: Int) -> String?
    /// Whether any of its items can be selected.
    var isSelectable: Bool { get }
    /// The item with that id.
    func item(_ id: String) -> Int?
    /// What an item stands for, as the arguments of links see it.
    func row(of item: Int) -> JSONObject
    /// The text of an item for copying, if it is not that of its row.
    func copiedText(of item: Int) -> String?
    /// The last code block in an item, or in the newest item that has one if none is given.
    func code(of item: Int?) -> Markdown.FencedBlock?
    /// What can be done with an item.
    var itemLinks: [Link] { get }
    /// The screen that shows more of an item.
    var detail: Link? { get }
    /// The position after the newest entry of what grows at its end, and is followed there; nil for all others.
    var end: Int? { get }
    /// Whether the selected item has another background.
    var marksSelection: Bool { get }
}

extension PaneSection {
    func item(with search: SearchText, from item: Int, forward: Bool, _ look: PaneLook) -> Int? {
        var item = item
        while (0..<count).contains(item) {
            if search.isIn(text(of: item, look)) || isFoldedAway(search, below: item, look) { return item }
            item += forward ? 1 : -1
        }
        return nil
    }

    func isFoldedAway(_ search: SearchText, below item: Int, _ look: PaneLook) -> Bool { false }
    func isFolded(_ item: Int, columns: Int, _ look: PaneLook) -> Bool? { nil }
    func foldKind(of item: Int?) -> PaneParts.FoldKind? { nil }
    func id(of item: Int) -> String? { nil }
    func item(_ id: String) -> Int? { nil }
    func row(of item: Int) -> JSONObject { [:] }
    func copiedText(of item: Int) -> String? { nil }
    func code(of item: Int?) -> Markdown.FencedBlock? { nil }
    var isSelectable: Bool { true }
    var itemLinks: [Link] { [] }
    var detail: Link? { nil }
    var end: Int? { nil }
    var marksSelection: Bool { true }
}

/// A section whose items have one row each.
protocol OneRowSection: PaneSection {
    /// The row of an item.
    mutating func line(of item: Int, columns: Int, _ look: PaneLook) -> StyledText
}

extension OneRowSection {
    func height(of item: Int, columns: Int, _ look: PaneLook) -> Int { 1 }

    mutating func rows(of item: Int, _ range: Range<Int>, columns: Int, _ look: PaneLook) -> [StyledText] {
        range.contains(0) ? [line(of: item, columns: columns, look)] : []
    }
}

/// A row that is always the same, such as a title.
struct LineSection: OneRowSection {
    let path: [String]
    let line: StyledText
    /// The id, if it can be selected.
    var id: String?
    /// Whether the block below it is folded; nil if it is not the head of one.
    var isFolded: Bool?
    /// The block that is folded away.
    var folded: Block?
    var count: Int { 1 }

    init(_ path: [String], _ line: StyledText, id: String? = nil, isFolded: Bool? = nil, folded: Block? = nil) {
        self.path = path
        self.line = line
        self.id = id
        self.isFolded = isFolded
        self.folded = folded
    }

    func line(of item: Int, columns: Int, _ look: PaneLook) -> StyledText { line.truncated(to: columns) }
    func text(of item: Int, _ look: PaneLook) -> String { line.plainText }
    func isFolded(_ item: Int, columns: Int, _ look: PaneLook) -> Bool? { isFolded }
    func foldKind(of item: Int?) -> PaneParts.FoldKind? { isFolded == nil ? nil : .blocks }
    func id(of item: Int) -> String? { id }
    func item(_ id: String) -> Int? { id == self.id ? 0 : nil }

    func isFoldedAway(_ search: SearchText, below item: Int, _ look: PaneLook) -> Bool {
        folded.map { PaneParts($0, columns: 80, look).contains(search) } ?? false
    }
}

extension StyledText {
    /// The text with spaces instead of line ends and tabs.
    var onOneLine: StyledText {
        guard plainText.contains(where: { $0.isNewline || $0 == "\t" }) else { return self }
        var line = StyledText()
        for run in runs { line.append(String(run.text.map { $0.isNewline || $0 == "\t" ? " " : $0 }), run.style) }
        return line
    }

    /// The text with four spaces for each tab, which a cell would show as one.
    var withoutTabs: StyledText {
        guard plainText.utf8.contains(0x09) else { return self }
        var line = StyledText()
        for run in runs {
            line.append(
                run.text.split(separator: "\t", omittingEmptySubsequences: false).joined(separator: "    "), run.style)
        }
        return line
    }

    /// The rows of a text of any lines.
    func fitted(to columns: Int) -> [StyledText] {
        let line = withoutTabs
        let isOneRow = line.width <= columns && !line.plainText.contains(where: \.isNewline)
        return isOneRow ? [line] : line.wrapped(to: max(1, columns))
    }
}
