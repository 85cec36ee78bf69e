import Capabilities

/// Turns nodes into blocks. Blocks nested deeper than anyone reads lose their nesting, and nothing else.
struct BlockReader {
    let look: MarkdownLook
    /// Addresses that are complete in a definition and too long to be repeated at every reference.
    let longAddresses: Set<String>

    private static let maximumDepth = 32

    func blocks(in node: MarkdownNode, depth: Int = 0) -> [MarkdownBlock] {
        node.children.flatMap { child -> [MarkdownBlock] in
            switch child.kind {
            case .quote, .list: depth < Self.maximumDepth ? [container(child, depth: depth)] : flattened(child)
            default: leaf(child).map { [$0] } ?? []
            }
        }
    }

    private func container(_ node: MarkdownNode, depth: Int) -> MarkdownBlock {
        if node.kind == .quote { return .quote(blocks(in: node, depth: depth + 1)) }
        var number = node.listStart
        var items: [MarkdownList.Item] = []
        for item in node.children {
            var marker = number.map { "\($0)\(node.listDelimiter)" } ?? "•"
            if let isDone = item.isTaskDone { marker = (number == nil ? "" : marker + " ") + (isDone ? "[x]" : "[ ]") }
            number = number.map { $0 + 1 }
            items.append(.init(marker: marker, blocks: blocks(in: item, depth: depth + 1)))
        }
        return .list(MarkdownList(items: items, isOrdered: node.listStart != nil, isTight: node.isTight))
    }

    /// The leaves below `top` in order, without recursion.
    private func flattened(_ top: MarkdownNode) -> [MarkdownBlock] {
        var found: [MarkdownBlock] = []
        var current: MarkdownNode? = top
        while let node = current {
            if let block = leaf(node) {
                found.append(block)
            } else if let child = node.firstChild {
                current = child
                continue
            }
            var done = node
            while done != top, done.next == nil, let parent = done.parent { done = parent }
            current = done == top ? nil : done.next
        }
        return found
    }

    private func leaf(_ node: MarkdownNode) -> MarkdownBlock? {
        switch node.kind {
        case .paragraph: .paragraph(inlines(node))
        case .heading:
            .heading(level: node.headingLevel, inlines(node, Style(.heading, bold: true)))
        case .code: .code(info: node.codeInfo, text: node.literal)
        case .html: .html(node.literal)
        case .rule: .rule
        case .table: .table(grid(node))
        default: nil
        }
    }

    private func inlines(_ node: MarkdownNode, _ base: Style = .plain) -> StyledText {
        InlineReader.text(in: node, look, base, longAddresses)
    }

    private func grid(_ node: MarkdownNode) -> MarkdownGrid {
        let alignments = node.alignments.map { side -> MarkdownGrid.Alignment in
            side == UInt8(ascii: "r") ? .trailing : side == UInt8(ascii: "c") ? .center : .leading
        }
        var rows: [[StyledText]] = []
        for row in node.children {
            let base = rows.isEmpty ? Style(bold: true) : .plain
            let cells = row.children.map { inlines($0, base).singleLine }
            rows.append(
                Array((cells + Array(repeating: StyledText(), count: alignments.count)).prefix(alignments.count)))
        }
        return MarkdownGrid(alignments: alignments, rows: rows)
    }
}

/// A block of a document as it will be drawn.
indirect enum MarkdownBlock {
    case paragraph(StyledText)
    case heading(level: Int, StyledText)
    case code(info: String, text: String)
    /// HTML, which is shown and never interpreted.
    case html(String)
    case rule
    case quote([MarkdownBlock])
    case list(MarkdownList)
    case table(MarkdownGrid)
}

/// A list with the markers of its items.
struct MarkdownList {
    struct Item {
        var marker: String
        var blocks: [MarkdownBlock]
    }

    var items: [Item]
    var isOrdered: Bool
    /// Whether there are no empty lines between the items.
    var isTight: Bool
}

/// A table. Every row, including the titles, has a cell for each column.
struct MarkdownGrid {
    enum Alignment { case leading, center, trailing }

    var alignments: [Alignment]
    var rows: [[StyledText]]
}
