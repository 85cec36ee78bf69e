import Capabilities
import JSON
import Screens
import TerminalForms
import TerminalKit

/// The lines of a log, each on one row. An item's id is its position in the feed, so it stays when older ones are
/// dropped.
struct LogSection: OneRowSection, WideSection {
    let path: [String]
    var start: Int?
    private let feed: Feed<Log.Line>
    private let range: Range<Int>

    /// As many lines are read from the feed at a time.
    private static let batch = 1_000

    init(_ path: [String], _ log: Log, start: Int?) {
        (self.path, self.start) = (path, start)
        feed = log.feed
        // The end may grow between the two.
        let first = feed.start
        range = first..<max(first, feed.end)
    }

    /// One more line says how many were dropped.
    private var hasNote: Bool { range.lowerBound > 0 || range.isEmpty }
    var count: Int { range.count + (hasNote ? 1 : 0) }
    var end: Int? { range.upperBound }

    func id(of item: Int) -> String? {
        let position = position(of: item)
        return range.contains(position) ? String(position) : nil
    }

    func item(_ id: String) -> Int? {
        guard let position = Int(id), range.contains(position) else { return nil }
        return item(at: position)
    }

    func row(of item: Int) -> JSONObject { line(at: position(of: item))?.json.object ?? [:] }

    func wholeLine(of item: Int, columns: Int, _ look: PaneLook) -> StyledText { line(of: item, look).onOneLine }

    mutating func line(of item: Int, columns: Int, _ look: PaneLook) -> StyledText {
        seenLine(of: item, columns: columns, look)
    }

    func text(of item: Int, _ look: PaneLook) -> String { line(of: item, look).plainText }

    func item(with search: SearchText, from item: Int, forward: Bool, _ look: PaneLook) -> Int? {
        let form = look.form(columns: 80)
        func isFound(_ line: Log.Line) -> Bool {
            if search.isIn(line.text) || line.state.map(search.isIn) == true { return true }
            // To format the times of all lines would take most of the search.
            return search.mayBeTime && line.time != nil && search.isIn(form.line(line).plainText)
        }
        if hasNote, item == 0 {
            if search.isIn(text(of: 0, look)) { return 0 }
            return forward && !range.isEmpty ? self.item(with: search, from: 1, forward: true, look) : nil
        }
        var position = position(of: item)
        while range.contains(position) {
            let first = forward ? position : max(range.lowerBound, position - Self.batch + 1)
            let (start, lines) = feed.entries(from: first, count: forward ? Self.batch : position - first + 1)
            let found = forward ? lines.firstIndex(where: isFound) : lines.lastIndex(where: isFound)
            if let found {
                let place = start + found - lines.startIndex
                return range.contains(place) ? self.item(at: place) : nil
            }
            position = forward ? max(start, first) + Self.batch : first - 1
        }
        return !forward && hasNote && search.isIn(text(of: 0, look)) ? 0 : nil
    }

    private func line(of item: Int, _ look: PaneLook) -> StyledText {
        let position = position(of: item)
        guard range.contains(position) else {
            let words = range.isEmpty ? "No lines yet." : "\(range.lowerBound) older lines are not kept."
            return StyledText(words, Style(.mutedForeground))
        }
        return line(at: position).map { look.form(columns: 80).line($0) } ?? ""
    }

    private func position(of item: Int) -> Int { range.lowerBound + item - (hasNote ? 1 : 0) }
    private func item(at position: Int) -> Int { position - range.lowerBound + (hasNote ? 1 : 0) }

    private func line(at position: Int) -> Log.Line? {
        let (found, lines) = feed.entries(from: position, count: 1)
        return found == position ? lines.first : nil
    }
}
