import Capabilities
import JSON
import Screens
import TerminalForms
import TerminalKit

/// The lines of a log, each on one row. An item's id is its position in the feed, so it stays when older ones are
/// dropped.
struct LogSection: PaneSection {
    let path: [String]
    private let feed: Feed<Log.Line>
    private let range: Range<Int>

    init(_ path: [String], _ log: Log) {
        self.path = path
        feed = log.feed
        // The end may grow between the two.
        let start = feed.start
        range = start..<max(start, feed.end)
    }

    /// One more line says how many were dropped.
    private var hasNote: Bool { range.lowerBound > 0 || range.isEmpty }
    var count: Int { range.count + (hasNote ? 1 : 0) }
    var grows: Bool { true }

    func id(of item: Int) -> String? {
        let position = position(of: item)
        return range.contains(position) ? String(position) : nil
    }

    func item(_ id: String) -> Int? {
        guard let position = Int(id), range.contains(position) else { return nil }
        return position - range.lowerBound + (hasNote ? 1 : 0)
    }

    func row(of item: Int) -> JSONObject { line(at: position(of: item))?.json.object ?? [:] }

    func rows(of item: Int, columns: Int, _ look: PaneLook) -> [StyledText] {
        let position = position(of: item)
        guard range.contains(position) else {
            let words = range.isEmpty ? "No lines yet." : "\(range.lowerBound) older lines are not kept."
            return [StyledText(words, Style(.mutedForeground)).truncated(to: columns)]
        }
        guard let line = line(at: position) else { return [""] }
        return [look.form(columns: columns).line(line).onOneLine.truncated(to: columns)]
    }

    private func position(of item: Int) -> Int { range.lowerBound + item - (hasNote ? 1 : 0) }

    private func line(at position: Int) -> Log.Line? {
        let (found, lines) = feed.entries(from: position, count: 1)
        return found == position ? lines.first : nil
    }
}

/// The entries of a transcript. Each is laid out once for a width, and the open one as it grows.
struct TranscriptSection: PaneSection {
    let path: [String]
    private let feed: Feed<Transcript.Entry>
    private let range: Range<Int>
    /// The positions of entries that the person has opened or folded.
    private let toggled: Set<String>
    private var layouts: [Int: Layout] = [:]
    private var use = 0

    private struct Layout {
        let entry: Transcript.Entry
        let columns: Int
        let isFolded: Bool
        let rows: [StyledText]
        var use: Int
    }

    /// More are laid out again when they are seen again.
    private static let mostLayouts = 400
    /// A longer thought or tool output is folded at first.
    private static let foldedRows = 3

    init(_ path: [String], _ transcript: Transcript, toggled: Set<String>) {
        self.path = path
        self.toggled = toggled
        feed = transcript.feed
        let start = feed.start
        range = start..<max(start, feed.end)
    }

    private var hasNote: Bool { range.lowerBound > 0 || range.isEmpty }
    var count: Int { range.count + (hasNote ? 1 : 0) }
    var grows: Bool { true }

    mutating func adopt(_ old: any PaneSection) {
        guard let old = old as? TranscriptSection, old.feed == feed else { return }
        (layouts, use) = (old.layouts, old.use)
    }

    func id(of item: Int) -> String? {
        let position = position(of: item)
        return range.contains(position) ? String(position) : nil
    }

    func item(_ id: String) -> Int? {
        guard let position = Int(id), range.contains(position) else { return nil }
        return position - range.lowerBound + (hasNote ? 1 : 0)
    }

    func row(of item: Int) -> JSONObject { entry(at: position(of: item))?.json.object ?? [:] }

    /// The text of an entry, for copying.
    func text(of item: Int) -> String? { entry(at: position(of: item))?.text }

    mutating func rows(of item: Int, columns: Int, _ look: PaneLook) -> [StyledText] {
        let position = position(of: item)
        guard range.contains(position) else {
            let words = range.isEmpty ? "Nothing was said yet." : "\(range.lowerBound) older entries are not kept."
            return [StyledText(words, Style(.mutedForeground)), ""]
        }
        guard let entry = entry(at: position) else { return [""] }
        let isFolded = Self.isFoldable(entry) != toggled.contains(String(position))
        use += 1
        if var layout = layouts[position], layout.entry == entry, layout.columns == columns, layout.isFolded == isFolded
        {
            layout.use = use
            layouts[position] = layout
            return layout.rows
        }
        let rows = Self.layOut(entry, isFolded: isFolded, columns, look)
        if layouts.count >= Self.mostLayouts {
            let old = layouts.values.map(\.use).sorted()[layouts.count / 2]
            layouts = layouts.filter { $0.value.use > old }
        }
        layouts[position] = Layout(entry: entry, columns: columns, isFolded: isFolded, rows: rows, use: use)
        return rows
    }

    private static func isFoldable(_ entry: Transcript.Entry) -> Bool {
        switch entry.author {
        case .thought, .tool: entry.text.utf8.count(where: { $0 == 0x0A }) >= foldedRows || entry.text.utf8.count > 300
        case .person, .model, .notice: false
        }
    }

    /// The head and the text of an entry, and an empty row after it.
    private static func layOut(
        _ entry: Transcript.Entry, isFolded: Bool, _ columns: Int, _ look: PaneLook
    ) -> [StyledText] {
        var rows = look.form(columns: columns).entry(entry).flatMap { line in
            line.width <= columns ? [line] : line.wrapped(to: max(1, columns))
        }
        if isFolded, rows.count > foldedRows + 1 {
            let left = rows.count - foldedRows
            rows = rows.prefix(foldedRows) + [StyledText("▸ \(left) more lines", Style(.mutedForeground))]
        }
        return rows + [""]
    }

    private func position(of item: Int) -> Int { range.lowerBound + item - (hasNote ? 1 : 0) }

    private func entry(at position: Int) -> Transcript.Entry? {
        let (found, entries) = feed.entries(from: position, count: 1)
        return found == position ? entries.first : nil
    }
}
