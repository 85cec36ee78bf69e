import Screens
import TerminalForms
import TerminalKit

/// A section whose lines may be longer than the pane is wide. They are read sideways, by half the width at a time.
protocol WideSection: PaneSection {
    /// The first column of its lines that is seen, where the person has gone to; nil before that.
    var start: Int? { get set }
    /// Whether lines that were not moved leave something out so that they fit. The first step shows the whole of them.
    static var fitsLines: Bool { get }
    /// The whole line of an item.
    mutating func wholeLine(of item: Int, columns: Int, _ look: PaneLook) -> StyledText
    /// Whether there is more of an item than is seen, apart from its beginning.
    mutating func isCut(_ item: Int, columns: Int, _ look: PaneLook) -> Bool
}

extension WideSection {
    static var fitsLines: Bool { false }

    mutating func isCut(_ item: Int, columns: Int, _ look: PaneLook) -> Bool {
        wholeLine(of: item, columns: columns, look).width > (start ?? 0) + columns
    }

    /// The part of an item's line that is seen.
    mutating func seenLine(of item: Int, columns: Int, _ look: PaneLook) -> StyledText {
        wholeLine(of: item, columns: columns, look).window(from: start ?? 0, columns: columns)
    }

    /// Goes one step to the right, or back to the left.
    mutating func move(forward: Bool, columns: Int) {
        let step = max(1, columns / 2)
        if forward {
            start = start.map { $0 + step } ?? (Self.fitsLines ? 0 : step)
        } else if let before = start {
            let isAtStart = before == 0 || !Self.fitsLines && before <= step
            start = isAtStart ? nil : max(0, before - step)
        }
    }

    /// Goes to where a text in an item's line is seen, if it is not.
    mutating func show(_ search: SearchText, in item: Int, columns: Int, _ look: PaneLook) {
        func isSeen() -> Bool { rows(of: item, 0..<1, columns: columns, look).contains { search.isIn($0.plainText) } }
        if isSeen() { return }
        let line = wholeLine(of: item, columns: columns, look)
        guard let place = search.columns(in: line.plainText).first else { return }
        start = nil
        if isSeen() { return }
        // In the middle. Of one that is too long the beginning is seen, beside the mark that there is more before it.
        let start = max(0, place.lowerBound - max(1, (columns - place.count) / 2))
        self.start = place.upperBound < columns && Self.fitsLines ? 0 : start
    }
}

/// The lines of code and of a change, each on one row.
struct CodeSection: OneRowSection, WideSection {
    let path: [String]
    var start: Int?
    private let block: Block
    private let lines: [StyledText]

    /// - Parameter old: the section of the value before, whose lines are kept if they are the same.
    init(_ path: [String], _ block: Block, start: Int?, _ look: PaneLook, after old: (any PaneSection)?) {
        (self.path, self.block, self.start) = (path, block, start)
        if let old = old as? CodeSection, old.block == block {
            lines = old.lines
        } else {
            // Line ends of other systems are some too.
            lines = look.form(columns: 80).content(of: block).flatMap { line in
                line.plainText.contains(where: \.isNewline) ? line.wrapped(to: .max / 4) : [line]
            }.map(\.withoutTabs)
        }
    }

    var count: Int { lines.count }
    var isSelectable: Bool { false }

    func wholeLine(of item: Int, columns: Int, _ look: PaneLook) -> StyledText { lines[item] }
    mutating func line(of item: Int, columns: Int, _ look: PaneLook) -> StyledText {
        seenLine(of: item, columns: columns, look)
    }
    func text(of item: Int, _ look: PaneLook) -> String { lines[item].plainText }

    func code(of item: Int?) -> Markdown.FencedBlock? {
        guard case .code(let code) = block.content, !code.text.isEmpty else { return nil }
        return Markdown.FencedBlock(info: code.language ?? "", text: code.text)
    }
}
