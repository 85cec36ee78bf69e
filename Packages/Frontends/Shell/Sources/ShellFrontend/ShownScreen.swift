import Capabilities
import JSON
import Registry
import Screens
import TerminalKit

/// A screen that the shell has opened: its state, and how it is seen.
struct ShownScreen: Sendable {
    let id: ViewID
    let screen: Screen
    let arguments: JSONObject
    private(set) var state = ScreenState.loading
    var pane = Pane()
    /// The text for the composer of the screen.
    var field: ComposerField?
    /// Whether it was asked for, which happens when it is first seen.
    var isOpen = false
    private(set) var refusal: AnyFailure?
    /// The rows of long lists, by the path of their table.
    private var lists: [[String]: [JSONObject]] = [:]
    /// The sources that were asked, by the same.
    private var asked: [[String]: RowSource] = [:]

    init(_ id: ViewID, _ screen: Screen, _ arguments: JSONObject) {
        self.id = id
        self.screen = screen
        self.arguments = arguments
    }

    /// The title of the newest value, or of the screen.
    var title: String { state.block?.title ?? screen.title }

    /// The composer, if the screen has one.
    var composer: Screens.Composer? { pane.composer?.composer }

    /// Takes a new state. The drafts of composers are kept by whoever calls.
    mutating func take(_ state: ScreenState, columns: Int, _ look: PaneLook, draft: (Screens.Composer) -> String) {
        self.state = state
        refusal = nil
        show(columns, look)
        guard let composer else {
            field = nil
            return
        }
        if field == nil {
            field = ComposerField(draft(composer), history: state.block?.spoken ?? [])
        }
    }

    mutating func refuse(_ failure: AnyFailure, columns: Int, _ look: PaneLook) {
        refusal = failure
        show(columns, look)
    }

    mutating func layOut(columns: Int, _ look: PaneLook) { pane.layOut(columns: columns, look) }

    /// The rows of a list have come.
    mutating func take(_ page: RowSource.Page, at path: [String], columns: Int, _ look: PaneLook) {
        lists[path] = page.rows
        show(columns, look)
    }

    private mutating func show(_ columns: Int, _ look: PaneLook) {
        let failure: (any Failure)? =
            if let refusal { refusal } else if case .failed(let failure, _) = state { failure } else { nil }
        let notice = failure.map { failure in
            Block(.placeholder(Placeholder(.failed, "\(failure.message)\n\nCtrl-R tries again.")), id: "failure")
        }
        if let block = state.block {
            pane.show(block.filled { [lists] path in lists[path] ?? [] }, below: notice, columns: columns, look)
        } else {
            let loading = Block(.placeholder(Placeholder(.loading, "Loading …")), id: "loading")
            pane.show(notice ?? loading, columns: columns, look)
        }
    }

    /// The first rows of lists that were not asked for yet.
    mutating func wantedRows() -> [(path: [String], source: RowSource, request: RowSource.Request)] {
        guard let block = state.block else { return [] }
        return block.sources(at: [block.id]).compactMap { path, source in
            // A value with another source has other rows.
            guard asked.updateValue(source, forKey: path) != source else { return nil }
            return (path, source, RowSource.Request(count: Self.mostRows))
        }
    }

    /// How many rows of a long list are read.
    static let mostRows = 2_000
}

extension Block {
    /// What the person has said in the transcripts inside, for the history of a composer.
    fileprivate var spoken: [String] {
        if case .transcript(let transcript) = content {
            let all = transcript.feed.entries(from: transcript.feed.end - 400).entries
            return all.filter { $0.author == .person }.map(\.text)
        }
        return children.flatMap(\.spoken)
    }

    /// The sources of long lists, each with the ids that lead to its table.
    fileprivate func sources(at path: [String]) -> [([String], RowSource)] {
        if case .table(let table) = content, case .source(let source) = table.rows { return [(path, source)] }
        return children.flatMap { $0.sources(at: path + [$0.id]) }
    }

    /// The same with the rows that were read.
    fileprivate func filled(_ rows: ([String]) -> [JSONObject]) -> Block { filled(at: [id], rows) }

    private func filled(at path: [String], _ rows: ([String]) -> [JSONObject]) -> Block {
        switch content {
        case .table(let table):
            guard case .source = table.rows else { return self }
            let filled = Screens.Table(
                table.columns, .all(rows(path)), id: table.rowID, links: table.rowLinks, detail: table.detail,
                empty: table.empty)
            return Block(.table(filled), id: id, title: title, links: links)
        case .stack(let stack):
            let blocks = stack.blocks.map { $0.filled(at: path + [$0.id], rows) }
            return Block(.stack(Stack(blocks, stack.axis)), id: id, title: title, links: links)
        case .tabs(let tabs):
            let blocks = tabs.blocks.map { $0.filled(at: path + [$0.id], rows) }
            return Block(.tabs(Tabs(blocks)), id: id, title: title, links: links)
        case .split(let split):
            let first = split.first.filled(at: path + [split.first.id], rows)
            let second = split.second.filled(at: path + [split.second.id], rows)
            return Block(
                .split(Split(first, second, split.axis, fraction: split.fraction)), id: id, title: title, links: links)
        case .collapsible(let collapsible):
            let inner = collapsible.block.filled(at: path + [collapsible.block.id], rows)
            return Block(
                .collapsible(Collapsible(inner, isOpen: collapsible.isOpen)), id: id, title: title, links: links)
        default: return self
        }
    }
}
