import Capabilities
import JSON
import Screens
import TerminalForms
import TerminalKit

/// The entries of a transcript. Each is laid out once for a width, and the open one as it grows.
struct TranscriptSection: PaneSection {
    let path: [String]
    private let feed: Feed<Transcript.Entry>
    private let range: Range<Int>
    /// The newest entry, which may change meanwhile.
    private let newest: Transcript.Entry?
    /// Which entries the person has folded or opened, by their ids.
    private let folds: [String: Bool]
    /// The same for all entries of an author.
    private let foldsOfAuthor: [Transcript.Author: Bool]
    private var layouts: [Int: Layout] = [:]
    private var use = 0

    private struct Layout: Sendable {
        let id: String
        let body: GrowingText
        var use: Int
    }

    /// More are laid out again when they are seen again.
    private static let mostLayouts = 400
    /// As many entries are read from the feed at a time.
    private static let batch = 100
    /// A longer thought or tool output is folded at first.
    private static let foldedRows = 3

    init(
        _ path: [String], _ transcript: Transcript, folds: [String: Bool], foldsOfAuthor: [Transcript.Author: Bool],
        after old: (any PaneSection)?
    ) {
        self.path = path
        (self.folds, self.foldsOfAuthor) = (folds, foldsOfAuthor)
        feed = transcript.feed
        let start = feed.start
        let (last, entries) = feed.entries(from: max(start, feed.end - 1))
        range = start..<max(start, last + entries.count)
        newest = entries.last
        if let old = old as? TranscriptSection, old.feed == feed { (layouts, use) = (old.layouts, old.use) }
    }

    private var hasNote: Bool { range.lowerBound > 0 || range.isEmpty }
    var count: Int { range.count + (hasNote ? 1 : 0) }
    var end: Int? { range.upperBound }
    var marksSelection: Bool { false }

    func id(of item: Int) -> String? { entry(of: item)?.id }

    func item(_ id: String) -> Int? {
        if newest?.id == id { return count - 1 }
        let (start, entries) = feed.entries(from: range.lowerBound, count: range.count)
        guard let index = entries.lastIndex(where: { $0.id == id }) else { return nil }
        let position = start + index - entries.startIndex
        return range.contains(position) ? position - range.lowerBound + (hasNote ? 1 : 0) : nil
    }

    func row(of item: Int) -> JSONObject { entry(of: item)?.json.object ?? [:] }
    func copiedText(of item: Int) -> String? { entry(of: item)?.text }

    func code(of item: Int?) -> Markdown.FencedBlock? {
        if let item { return entry(of: item)?.code }
        if let code = newest?.code { return code }
        var end = range.upperBound - 1
        while end > range.lowerBound {
            let first = max(range.lowerBound, end - Self.batch)
            let entries = feed.entries(from: first, count: end - first).entries
            if let code = entries.reversed().lazy.compactMap(\.code).first { return code }
            end = first
        }
        return nil
    }

    func text(of item: Int, _ look: PaneLook) -> String {
        guard let entry = entry(of: item) else { return note.plainText }
        let head = entry.title ?? entry.author.rawValue
        return "\(head) \(entry.state ?? "")\n\(entry.text)"
    }

    func item(with search: SearchText, from item: Int, forward: Bool, _ look: PaneLook) -> Int? {
        var item = item
        while (0..<count).contains(item) {
            let text = text(of: item, look)
            if search.isIn(text) || search.isIn(text.withoutMarks) { return item }
            item += forward ? 1 : -1
        }
        return nil
    }

    // MARK: Rows

    private var note: StyledText {
        StyledText(
            range.isEmpty ? "Nothing was said yet." : "\(range.lowerBound) older entries are not kept.",
            Style(.mutedForeground))
    }

    mutating func height(of item: Int, columns: Int, _ look: PaneLook) -> Int {
        // An empty row is below each entry.
        guard let entry = entry(of: item) else { return 2 }
        let parts = layOut(entry, item, columns, look)
        let all = parts.head.count + parts.count
        return (parts.isFolded && all > Self.foldedRows + 1 ? Self.foldedRows + 1 : all) + 1
    }

    mutating func rows(of item: Int, _ range: Range<Int>, columns: Int, _ look: PaneLook) -> [StyledText] {
        guard let entry = entry(of: item) else {
            let rows = [note.truncated(to: columns), ""]
            return Array(rows[range.clamped(to: rows.indices)])
        }
        let parts = layOut(entry, item, columns, look)
        let all = parts.head.count + parts.count
        let isFolded = parts.isFolded && all > Self.foldedRows + 1
        let shown = isFolded ? Self.foldedRows : all
        var rows = Array(parts.head[range.clamped(to: 0..<min(shown, parts.head.count))])
        let first = parts.head.count
        let body = range.clamped(to: min(first, shown)..<shown)
        if !body.isEmpty {
            let inside = max(0, body.lowerBound - first)..<body.upperBound - first
            rows += parts.body.rows(inside, of: entry.text, isOpen: entry.isOpen)
        }
        if isFolded, range.contains(shown) {
            rows.append(
                StyledText("▸ \(all - shown) more lines", Style(.mutedForeground)).truncated(to: columns))
        }
        if range.contains(isFolded ? shown + 1 : shown) { rows.append("") }
        return rows
    }

    mutating func isFolded(_ item: Int, columns: Int, _ look: PaneLook) -> Bool? {
        guard let entry = entry(of: item) else { return nil }
        let parts = layOut(entry, item, columns, look)
        return parts.head.count + parts.count > Self.foldedRows + 1 ? parts.isFolded : nil
    }

    func foldKind(of item: Int?) -> PaneParts.FoldKind? {
        guard let item else { return .entries(path, .thought) }
        guard let author = entry(of: item)?.author, [.thought, .tool].contains(author) else { return nil }
        return .entries(path, author)
    }

    /// The head of an entry, its text, and how many rows that has.
    private mutating func layOut(
        _ entry: Transcript.Entry, _ item: Int, _ columns: Int, _ look: PaneLook
    ) -> (head: [StyledText], body: GrowingText, count: Int, isFolded: Bool) {
        let position = position(of: item)
        use += 1
        let body: GrowingText
        if let layout = layouts[position], layout.id == entry.id, layout.body.columns == max(1, columns),
            layout.body.level == look.level
        {
            body = layout.body
            layouts[position]?.use = use
        } else {
            body = GrowingText(entry.form, columns: columns, level: look.level)
            if layouts.count >= Self.mostLayouts {
                let old = layouts.values.map(\.use).sorted()[layouts.count / 2]
                layouts = layouts.filter { $0.value.use > old }
            }
            layouts[position] = Layout(id: entry.id, body: body, use: use)
        }
        let head = Transcript.Entry(
            entry.id, entry.author, "", time: entry.time, title: entry.title, state: entry.state)
        return (
            look.form(columns: columns).entry(head).prefix(1).flatMap { $0.onOneLine.fitted(to: columns) }, body,
            body.count(of: entry.text, isOpen: entry.isOpen),
            folds[entry.id] ?? foldsOfAuthor[entry.author] ?? Self.isFoldedAtFirst(entry)
        )
    }

    private static func isFoldedAtFirst(_ entry: Transcript.Entry) -> Bool {
        switch entry.author {
        case .thought, .tool: entry.text.utf8.count > 300 || entry.text.utf8.count(where: { $0 == 0x0A }) >= foldedRows
        case .person, .model, .notice: false
        }
    }

    private func position(of item: Int) -> Int { range.lowerBound + item - (hasNote ? 1 : 0) }

    private func entry(of item: Int) -> Transcript.Entry? {
        let position = position(of: item)
        guard range.contains(position) else { return nil }
        if position == range.upperBound - 1 { return newest }
        let (found, entries) = feed.entries(from: position, count: 1)
        return found == position ? entries.first : nil
    }
}

extension Transcript.Entry {
    /// The last code block of what is drawn as Markdown. The marks in the output of a tool mean nothing.
    fileprivate var code: Markdown.FencedBlock? {
        if case .markdown = form { Markdown.lastFencedBlock(in: text, isOpen: isOpen) } else { nil }
    }

    fileprivate var form: GrowingText.Kind {
        switch author {
        case .person, .model: .markdown
        case .thought, .tool, .notice: .plain(Style(.mutedForeground))
        }
    }
}

extension String {
    /// The text without the marks of Markdown, which are not seen.
    fileprivate var withoutMarks: String {
        let marks = [UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "`")]
        return String(decoding: utf8.filter { !marks.contains($0) }, as: UTF8.self)
    }
}
