import Capabilities
import JSON
import Screens
import TerminalForms
import TerminalKit

/// How far the feeds of a screen were sent to a program, and printed for a person.
struct FollowedFeeds {
    private var positions: [[String]: Position] = [:]

    private struct Position {
        let feed: ObjectIdentifier
        var version = -1
        /// The position after the newest entry that was sent, and that entry.
        var sent = (end: 0, last: JSON?.none)
        /// The same of the newest entry that was printed. One that still grows is printed when it has ended.
        var printed = (end: 0, last: JSON?.none)
    }

    /// Up to where each feed was printed.
    var ends: [ObjectIdentifier: Int] {
        Dictionary(positions.values.map { ($0.feed, $0.printed.end) }) { max($0, $1) }
    }

    /// The new entries of all feeds in a block. Afterwards they count as sent and as printed.
    mutating func grown(in block: Block, _ form: TextForm, at path: [String] = []) -> [FeedLines] {
        switch block.content {
        case .log(let log): return grown(log.feed, path) { form.text($0.map(form.line)) }
        case .transcript(let transcript):
            return grown(transcript.feed, path) { form.text($0.flatMap { [""] + form.entry($0) }) }
        default:
            var found: [FeedLines] = []
            for child in block.children { found += grown(in: child, form, at: path + [child.id]) }
            return found
        }
    }

    private mutating func grown<Entry: FollowedEntry>(
        _ feed: Feed<Entry>, _ path: [String], _ text: (ArraySlice<Entry>) -> String
    ) -> [FeedLines] {
        let (version, identity) = (feed.version, ObjectIdentifier(feed))
        // The screen may show another feed at the same place.
        var position = positions[path].flatMap { $0.feed == identity ? $0 : nil } ?? Position(feed: identity)
        guard position.version != version else { return [] }
        position.version = version
        // From the newest known entry on, because it may have been replaced since.
        let (start, entries) = feed.entries(from: max(0, min(position.sent.end, position.printed.end) - 1))
        let new = Self.unknown(of: entries, from: start, after: position.sent)
        position.sent = (start + entries.count, entries.last?.json)
        let whole = entries.last?.isOpen == true ? entries.dropLast() : entries
        let printable = Self.unknown(of: whole, from: start, after: position.printed)
        position.printed = (start + whole.count, whole.last?.json)
        positions[path] = position
        guard !new.isEmpty || !printable.isEmpty else { return [] }
        return [
            FeedLines(
                path: path, from: start + new.startIndex - entries.startIndex, lines: new.map(\.json),
                text: printable.isEmpty ? "" : text(printable))
        ]
    }

    /// The entries that are not known yet. The newest known one is among them if it has changed.
    private static func unknown<Entry: FollowedEntry>(
        of entries: ArraySlice<Entry>, from start: Int, after known: (end: Int, last: JSON?)
    ) -> ArraySlice<Entry> {
        let entries = entries.dropFirst(max(0, known.end - 1 - start))
        guard known.end > start, let last = known.last, entries.first?.json == last else { return entries }
        return entries.dropFirst()
    }
}

/// New entries of a feed.
struct FeedLines: Sendable {
    let path: [String]
    /// The position of the first of these lines.
    let from: Int
    let lines: [JSON]
    /// The entries for a person.
    let text: String
}

/// An entry of a feed that is followed.
private protocol FollowedEntry: FeedEntry, OutputValue {
    /// Whether more of it will come.
    var isOpen: Bool { get }
}

extension Transcript.Entry: FollowedEntry {}

extension Log.Line: FollowedEntry {
    fileprivate var isOpen: Bool { false }
}
