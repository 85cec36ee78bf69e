import Capabilities
import JSON
import Screens
import TerminalForms
import TerminalKit

/// The nodes of a tree that are not folded away, each on one row.
struct TreeSection: OneRowSection, WideSection {
    let path: [String]
    var start: Int?
    private let tree: Tree
    private let nodes: [(node: Tree.Node, depth: Int, isOpen: Bool)]

    /// - Parameter isOpen: whether the nodes below one are seen.
    init(_ path: [String], _ tree: Tree, start: Int?, isOpen: (Tree.Node) -> Bool) {
        (self.path, self.start) = (path, start)
        self.tree = tree
        var nodes: [(Tree.Node, Int, Bool)] = []
        func add(_ node: Tree.Node, _ depth: Int) {
            let open = isOpen(node)
            nodes.append((node, depth, open))
            if open { for child in node.children { add(child, depth + 1) } }
        }
        for node in tree.nodes { add(node, 0) }
        self.nodes = nodes
    }

    var count: Int { nodes.count }
    var itemLinks: [Link] { tree.nodeLinks }
    var detail: Link? { tree.detail }
    func id(of item: Int) -> String? { nodes[item].node.id }
    func item(_ id: String) -> Int? { nodes.firstIndex { $0.node.id == id } }
    func row(of item: Int) -> JSONObject { ["id": .string(nodes[item].node.id)] }

    func isFolded(_ item: Int, columns: Int, _ look: PaneLook) -> Bool? {
        nodes[item].node.children.isEmpty ? nil : !nodes[item].isOpen
    }

    func foldKind(of item: Int?) -> PaneParts.FoldKind? { .nodes(path) }
    func text(of item: Int, _ look: PaneLook) -> String { nodes[item].node.words }

    func isFoldedAway(_ search: SearchText, below item: Int, _ look: PaneLook) -> Bool {
        func isBelow(_ node: Tree.Node) -> Bool { node.children.contains { search.isIn($0.words) || isBelow($0) } }
        return !nodes[item].isOpen && isBelow(nodes[item].node)
    }

    mutating func line(of item: Int, columns: Int, _ look: PaneLook) -> StyledText {
        seenLine(of: item, columns: columns, look)
    }

    func wholeLine(of item: Int, columns: Int, _ look: PaneLook) -> StyledText {
        let (node, depth, isOpen) = nodes[item]
        let mark = node.children.isEmpty ? "  " : isOpen ? "▾ " : "▸ "
        var line = StyledText(String(repeating: "  ", count: depth)) + StyledText(mark, Style(.mutedForeground))
        let look = node.state.map { StateLook(of: $0) }
        if let look { line.append("\(look.mark) ", look.style) }
        line.append(node.label.styled.onOneLine)
        if let look, let state = node.state { line.append("  \(state)", look.style) }
        return line
    }
}

extension Tree.Node {
    /// What its row says.
    fileprivate var words: String { state.map { "\(label.plain)  \($0)" } ?? label.plain }
}

/// The steps of a timeline, each on one line: a mark and a word for the state, the title, and how long it took.
struct TimelineSection: OneRowSection, WideSection {
    let path: [String]
    var start: Int?
    private let timeline: Timeline
    /// How many steps each group has.
    private let groups: [String: Int]

    init(_ path: [String], _ timeline: Timeline, start: Int?) {
        (self.path, self.start) = (path, start)
        self.timeline = timeline
        groups = Dictionary(timeline.steps.compactMap(\.group).map { ($0, 1) }, uniquingKeysWith: +)
    }

    var count: Int { timeline.steps.count }
    var itemLinks: [Link] { timeline.rowLinks }
    func id(of item: Int) -> String? { timeline.steps[item].id }
    func item(_ id: String) -> Int? { timeline.steps.firstIndex { $0.id == id } }
    func row(of item: Int) -> JSONObject { timeline.steps[item].json.object ?? [:] }

    func wholeLine(of item: Int, columns: Int, _ look: PaneLook) -> StyledText { line(of: item) }
    mutating func line(of item: Int, columns: Int, _ look: PaneLook) -> StyledText {
        seenLine(of: item, columns: columns, look)
    }
    func text(of item: Int, _ look: PaneLook) -> String { line(of: item).plainText }

    private func line(of item: Int) -> StyledText {
        let step = timeline.steps[item]
        // Steps that run side by side are joined by a line at their left.
        var line = StyledText(step.group.map { (groups[$0] ?? 0) > 1 } == true ? "║ " : "", Style(.border))
        let look = StateLook(of: step.state)
        line.append("\(look.mark) ", look.style)
        line.append(step.title, Style(bold: true))
        line.append("  \(step.state)", look.style)
        if let duration = step.duration { line.append("  \(duration.roundedWords)", Style(.mutedForeground)) }
        if let code = step.exitCode {
            line.append("  exit \(code)", code == 0 ? Style(.mutedForeground) : Style(.error))
        }
        if let note = step.note { line.append("  \(note)", Style(.mutedForeground)) }
        return line.onOneLine
    }
}
