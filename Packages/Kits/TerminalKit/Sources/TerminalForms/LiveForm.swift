import Capabilities
public import Screens
public import TerminalKit

/// Formats a block for a few rows that are drawn again and again, and cannot be scrolled.
extension TextForm {
    /// The lines of a block, at most as many as there are rows. Of a tree the nodes come first that run, then those
    /// that have failed; all else is always there as far as it fits.
    public func lines(_ block: Block, rows: Int) -> [StyledText] {
        let parts: [Block] = if case .stack(let stack) = block.content { stack.blocks } else { [block] }
        let others = parts.map { part -> [StyledText]? in
            if case .tree = part.content { return nil }
            return self.lines(part)
        }
        var room = max(0, rows - others.reduce(0) { $0 + ($1?.count ?? 0) })
        var lines: [StyledText] = []
        for (part, other) in zip(parts, others) {
            var shown = other ?? []
            if case .tree(let tree) = part.content {
                shown = self.lines(tree, rows: room)
                room -= shown.count
            }
            lines += shown
        }
        return Array(lines.prefix(max(0, rows)))
    }

    private func lines(_ tree: Tree, rows: Int) -> [StyledText] {
        guard rows > 0 else { return [] }
        let whole = tree.nodes.map { branch($0, depth: 0) }
        guard whole.reduce(0, { $0 + $1.count }) > rows else { return whole.flatMap(\.self) }
        var shown = [[StyledText]?](repeating: nil, count: whole.count)
        // The last row counts the nodes that are left out.
        var room = rows - 1
        // The newest of the finished nodes are the most useful.
        let order = tree.nodes.indices.reversed().map { ($0, Self.rank(tree.nodes[$0].state)) }
            .sorted { ($0.1, -$0.0) < ($1.1, -$1.0) }
        for (index, _) in order where room > 0 {
            let branch = Array(whole[index].prefix(room))
            room -= branch.count
            shown[index] = branch
        }
        let hidden = shown.count { $0 == nil }
        let more = hidden > 0 ? [StyledText("  … and \(hidden) more", Style(.mutedForeground))] : []
        return shown.flatMap { $0 ?? [] } + more
    }

    private static func rank(_ state: String?) -> Int {
        switch state {
        case "running": 0
        case "failed": 1
        case nil, "waiting": 3
        default: 2
        }
    }

    /// A node and those below it, each with the sign of its state.
    private func branch(_ node: Tree.Node, depth: Int) -> [StyledText] {
        var line = StyledText(String(repeating: "  ", count: depth))
        if let state = node.state {
            let look = StateLook(of: state)
            line.append("\(look.mark) ", look.style)
        }
        return [line + node.label.styled] + node.children.flatMap { branch($0, depth: depth + 1) }
    }
}
