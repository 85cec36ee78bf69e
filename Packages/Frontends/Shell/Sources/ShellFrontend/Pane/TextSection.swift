import Capabilities
import Screens
import TerminalForms
import TerminalKit

/// A block that is only read: its lines, made once for a width. So is a horizontal stack or a split of such blocks, which
/// are beside each other.
struct TextSection: PaneSection {
    let path: [String]
    private let block: Block
    private let columns: Int
    private let look: PaneLook
    private let content: Content

    private enum Content: Sendable {
        case rows([StyledText])
        case markdown(GrowingText, MarkdownText, count: Int)
    }

    /// Lines are needed to count them, so the section is made for a width.
    ///
    /// - Parameter old: the section of the value before. What has not changed is not laid out again.
    init(_ path: [String], _ block: Block, columns: Int, _ look: PaneLook, after old: (any PaneSection)?) {
        (self.path, self.block, self.columns) = (path, block, columns)
        let old = (old as? TextSection).flatMap { $0.columns == columns && $0.look.level == look.level ? $0 : nil }
        if case .markdown(let markdown) = block.content {
            self.look = look
            var text = GrowingText(.markdown, columns: columns, level: look.level)
            if case .markdown(let before, _, _)? = old?.content { text = before }
            content = .markdown(text, markdown, count: text.count(of: markdown.text, isOpen: markdown.isOpen))
        } else if let old, old.block == block,
            !block.tellsTime || abs(look.now.microseconds - old.look.now.microseconds) < 1_000_000
        {
            (self.look, content) = (old.look, old.content)
        } else {
            self.look = look
            content = .rows(BlockRows.rows(of: block, columns: columns, look) ?? [])
        }
    }

    var isSelectable: Bool { false }

    var count: Int {
        switch content {
        case .rows(let rows): rows.count
        case .markdown(_, _, let count): count
        }
    }

    private func rows(_ range: Range<Int>) -> [StyledText] {
        switch content {
        case .rows(let rows): Array(rows[range.clamped(to: rows.indices)])
        case .markdown(let text, let markdown, _): text.rows(range, of: markdown.text, isOpen: markdown.isOpen)
        }
    }

    func height(of item: Int, columns: Int, _ look: PaneLook) -> Int { 1 }

    func rows(of item: Int, _ range: Range<Int>, columns: Int, _ look: PaneLook) -> [StyledText] {
        range.contains(0) ? rows(item..<item + 1) : []
    }

    func text(of item: Int, _ look: PaneLook) -> String { rows(item..<item + 1).first?.plainText ?? "" }

    func code(of item: Int?) -> Markdown.FencedBlock? { block.lastCode }

    func item(with search: SearchText, from item: Int, forward: Bool, _ look: PaneLook) -> Int? {
        let found = search.rows(in: rows(0..<count))
        return forward ? found.first { $0 >= item } : found.last { $0 <= item }
    }
}

/// The rows of blocks that are only read.
enum BlockRows {
    /// Below that width a column of text says little.
    private static let leastColumns = 30
    private static let gap = 2
    private static let border = " │ "

    /// The rows of a block without its title; nil if something in it can be selected.
    static func rows(of block: Block, columns: Int, _ look: PaneLook) -> [StyledText]? {
        switch block.content {
        case .text, .markdown, .code, .diff, .values, .waterfall, .chart, .gauge, .progress, .placeholder:
            return look.form(columns: columns).content(of: block).flatMap { $0.fitted(to: columns) }
        case .stack, .split: return beside(block, columns, look) ?? below(block.children, columns, look)
        case .table, .tree, .log, .transcript, .timeline, .form, .composer, .tabs, .collapsible: return nil
        }
    }

    /// Whether a block is drawn with its parts beside each other: there is room, and none of them can be selected.
    static func isBeside(_ block: Block, columns: Int) -> Bool {
        guard block.children.allSatisfy(isOnlyRead) else { return false }
        return widths(of: block, columns).map { $0.allSatisfy { $0 >= leastColumns } } ?? false
    }

    private static func isOnlyRead(_ block: Block) -> Bool {
        switch block.content {
        case .text, .markdown, .code, .diff, .values, .waterfall, .chart, .gauge, .progress, .placeholder: true
        case .stack, .split: block.children.allSatisfy(isOnlyRead)
        case .table, .tree, .log, .transcript, .timeline, .form, .composer, .tabs, .collapsible: false
        }
    }

    /// The columns of each part; nil if they are below each other.
    private static func widths(of block: Block, _ columns: Int) -> [Int]? {
        switch block.content {
        case .stack(let stack) where stack.axis == .horizontal && stack.blocks.count > 1:
            let count = stack.blocks.count
            let room = columns - gap * (count - 1)
            return (0..<count).map { room * ($0 + 1) / count - room * $0 / count }
        case .split(let split) where split.axis == .horizontal:
            let room = columns - TextWidth.of(border)
            let fraction = split.fraction.isFinite ? min(1, max(0, split.fraction)) : 0.5
            let first = Int((Double(room) * fraction).rounded())
            let least = min(leastColumns, room / 2)
            return [min(room - least, max(least, first)), room - min(room - least, max(least, first))]
        default: return nil
        }
    }

    private static func beside(_ block: Block, _ columns: Int, _ look: PaneLook) -> [StyledText]? {
        guard let widths = widths(of: block, columns), widths.allSatisfy({ $0 >= leastColumns }) else { return nil }
        var between = StyledText(String(repeating: " ", count: gap))
        if case .split = block.content { between = StyledText(border, Style(.border)) }
        var parts: [[StyledText]] = []
        for (block, width) in zip(block.children, widths) {
            guard let rows = titled(block, width, look) else { return nil }
            parts.append(rows)
        }
        return (0..<(parts.map(\.count).max() ?? 0)).map { number in
            var row = StyledText()
            for (index, part) in parts.enumerated() {
                if index > 0 { row.append(between) }
                let cell = number < part.count ? part[number].truncated(to: widths[index]) : StyledText()
                row.append(index + 1 < parts.count ? cell.padded(to: widths[index]) : cell)
            }
            return row
        }
    }

    private static func below(_ blocks: [Block], _ columns: Int, _ look: PaneLook) -> [StyledText]? {
        var rows: [StyledText] = []
        for block in blocks {
            guard let more = titled(block, columns, look) else { return nil }
            rows += (rows.isEmpty || more.isEmpty ? [] : [""]) + more
        }
        return rows
    }

    private static func titled(_ block: Block, _ columns: Int, _ look: PaneLook) -> [StyledText]? {
        guard let rows = rows(of: block, columns: columns, look) else { return nil }
        return (block.title.map { [StyledText($0, Style(.heading, bold: true)).onOneLine] } ?? []) + rows
    }
}

extension Block {
    /// Whether its rows may say how long ago something was.
    fileprivate var tellsTime: Bool {
        if case .values = content { true } else { children.contains(where: \.tellsTime) }
    }

    /// The last code in it, or in the blocks of it.
    fileprivate var lastCode: Markdown.FencedBlock? {
        switch content {
        case .code(let code):
            code.text.isEmpty ? nil : Markdown.FencedBlock(info: code.language ?? "", text: code.text)
        case .markdown(let markdown): Markdown.lastFencedBlock(in: markdown.text, isOpen: markdown.isOpen)
        default: children.reversed().lazy.compactMap(\.lastCode).first
        }
    }
}
