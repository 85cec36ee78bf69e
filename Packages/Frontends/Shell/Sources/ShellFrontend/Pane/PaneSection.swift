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
        TextForm(level: level, width: max(1, columns), clock: LocalClock(now: now))
    }
}

/// A block in a pane: items below each other, each of one row or more. Rows are made when they are drawn, so that a long
/// block costs no more than a short one.
protocol PaneSection: Sendable {
    /// The ids of the blocks that lead to it.
    var path: [String] { get }
    /// How many items it has.
    var count: Int { get }
    /// The rows of an item; at least one.
    mutating func rows(of item: Int, columns: Int, _ look: PaneLook) -> [StyledText]
    /// The id of an item that can be selected; nil for one that cannot.
    func id(of item: Int) -> String?
    /// The item with that id.
    func item(_ id: String) -> Int?
    /// What an item stands for, as the arguments of links see it.
    func row(of item: Int) -> JSONObject
    /// What can be done with an item.
    var itemLinks: [Link] { get }
    /// The screen that shows more of an item.
    var detail: Link? { get }
    /// Whether it grows at its end, and is followed there.
    var grows: Bool { get }
    /// What was laid out before for the same block.
    mutating func adopt(_ old: any PaneSection)
}

extension PaneSection {
    func id(of item: Int) -> String? { nil }
    func item(_ id: String) -> Int? { nil }
    func row(of item: Int) -> JSONObject { [:] }
    var itemLinks: [Link] { [] }
    var detail: Link? { nil }
    var grows: Bool { false }
    mutating func adopt(_ old: any PaneSection) {}
}

/// A block that is only read: its lines, made once for a width.
struct TextSection: PaneSection {
    let path: [String]
    private let block: Block
    private var laidOut: (columns: Int, look: PaneLook, rows: [StyledText])?

    /// Lines are needed to count them, so the section is made for a width.
    init(_ path: [String], _ block: Block, columns: Int, _ look: PaneLook) {
        self.path = path
        self.block = block
        layOut(columns, look)
    }

    var count: Int { laidOut?.rows.count ?? 0 }

    mutating func rows(of item: Int, columns: Int, _ look: PaneLook) -> [StyledText] {
        guard let rows = laidOut?.rows, rows.indices.contains(item) else { return [""] }
        return [rows[item]]
    }

    mutating func adopt(_ old: any PaneSection) {
        // Markdown is laid out once, whatever else of the screen changes.
        if let old = old as? TextSection, let done = old.laidOut, old.block == block, done.columns == laidOut?.columns,
            done.look == laidOut?.look
        {
            laidOut = done
        }
    }

    private mutating func layOut(_ columns: Int, _ look: PaneLook) {
        let rows = look.form(columns: columns).content(of: block).flatMap { line in
            line.width <= columns ? [line] : line.wrapped(to: max(1, columns))
        }
        laidOut = (columns, look, rows)
    }
}

/// A row that is always the same, such as a title.
struct LineSection: PaneSection {
    let path: [String]
    let line: StyledText
    /// The id, if it can be selected.
    var id: String?
    var count: Int { 1 }

    init(_ path: [String], _ line: StyledText, id: String? = nil) {
        self.path = path
        self.line = line
        self.id = id
    }

    func rows(of item: Int, columns: Int, _ look: PaneLook) -> [StyledText] { [line.truncated(to: columns)] }
    func id(of item: Int) -> String? { id }
    func item(_ id: String) -> Int? { id == self.id ? 0 : nil }
}
