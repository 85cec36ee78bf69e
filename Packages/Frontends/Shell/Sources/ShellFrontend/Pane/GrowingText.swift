import Glibc
import Synchronization
import TerminalKit

/// The rows of a text that may grow, at a width. Only what is new is laid out, and the unfinished end.
///
/// It is shared by the copies of a pane. Each of them says which text it means before it reads rows, so that none sees
/// those of another.
final class GrowingText: Sendable {
    enum Kind: Sendable {
        case markdown
        /// Lines as they are, in a style.
        case plain(Style)
    }

    private struct State: ~Copyable {
        var stream: MarkdownStream
        var text = ""
        var isOpen = true
        /// How long the text was when all of it was last compared.
        var compared = 0
        /// The bytes of the text that are laid out in `finished`, or given to the stream. Not needed once it is complete.
        var taken: [UInt8] = []
        var finished: [StyledText] = []
        var tail: [StyledText] = []
    }

    private static let endBytes = 4_096

    let columns: Int
    let level: ColorLevel
    private let kind: Kind
    private let state: Mutex<State>

    init(_ kind: Kind, columns: Int, level: ColorLevel) {
        self.columns = max(1, columns)
        self.level = level
        if case .markdown = kind, !Markdown.isAvailable { self.kind = .plain(.plain) } else { self.kind = kind }
        state = Mutex(State(stream: Self.stream(columns: max(1, columns), level)))
    }

    /// A link shows its address in any case: a terminal that does not know links leaves them out without a word, and one
    /// that does shows them only to a mouse.
    private static func stream(columns: Int, _ level: ColorLevel) -> MarkdownStream {
        MarkdownStream(width: columns, level: level, links: true, showsAddresses: true)
    }

    /// How many rows a text has.
    func count(of text: String, isOpen: Bool) -> Int {
        state.withLock { state in
            lay(out: text, isOpen, &state)
            return state.finished.count + state.tail.count
        }
    }

    /// Some of the rows of a text.
    func rows(_ range: Range<Int>, of text: String, isOpen: Bool) -> [StyledText] {
        state.withLock { state in
            lay(out: text, isOpen, &state)
            let range = range.clamped(to: 0..<state.finished.count + state.tail.count)
            let finished = range.clamped(to: 0..<state.finished.count)
            let first = max(0, range.lowerBound - state.finished.count)
            let end = max(first, range.upperBound - state.finished.count)
            return Array(state.finished[finished] + state.tail[first..<end])
        }
    }

    private func lay(out text: String, _ isOpen: Bool, _ state: inout State) {
        // To compare all of a long text for each token would soon take longer than to lay it out. So while it is written,
        // its ends are compared, and all of it each time that it has grown by an eighth.
        let isGrowing = text.beginsWithBytes(of: state.text, atEnds: isOpen ? Self.endBytes : nil)
        if isGrowing, text.utf8.count == state.text.utf8.count, isOpen == state.isOpen { return }
        let isDue = !isOpen || text.utf8.count > state.compared + state.compared / 8
        if !isGrowing || !state.isOpen || isDue && !text.begins(with: state.taken) {
            state = State(stream: Self.stream(columns: columns, level))
        }
        if isDue || state.taken.isEmpty { state.compared = text.utf8.count }
        let isNew = state.taken.isEmpty
        (state.text, state.isOpen) = (text, isOpen)
        defer { if !isOpen { state.taken = [] } }
        state.tail = []
        switch kind {
        case .plain(let style): layOutPlain(text, isOpen, style, &state)
        case .markdown where isNew && !isOpen:
            // All definitions are known.
            state.finished = fitted(
                Markdown.render(text, width: columns, level: level, links: true, showsAddresses: true))
        case .markdown:
            let piece = Array(text.utf8.dropFirst(state.taken.count))
            state.taken += piece
            state.finished += fitted(state.stream.append(piece))
            if isOpen {
                state.tail = fitted(state.stream.tail())
            } else {
                state.finished += fitted(state.stream.finish())
            }
        }
    }

    private func layOutPlain(_ text: String, _ isOpen: Bool, _ style: Style, _ state: inout State) {
        let bytes = text.utf8.dropFirst(state.taken.count)
        // An end of a line at the end of the text begins no other line.
        let lineEnd = bytes.lastIndex(of: 0x0A).map { bytes.index(after: $0) } ?? bytes.startIndex
        let end = isOpen ? lineEnd : bytes.endIndex
        if end > bytes.startIndex {
            var lines = Substring(bytes[..<end]).unicodeScalars
            if lines.last == "\n" { lines.removeLast() }
            for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
                let line = line.last == "\r" ? line.dropLast() : line
                state.finished += StyledText(String(line), style).fitted(to: columns)
            }
            state.taken += bytes[..<end]
        }
        if end < bytes.endIndex {
            state.tail = StyledText(String(Substring(bytes[end...])), style).fitted(to: columns)
        }
    }

    private func fitted(_ lines: [StyledText]) -> [StyledText] {
        // Markdown is never narrower than eight columns.
        columns >= 8 ? lines : lines.flatMap { $0.fitted(to: columns) }
    }
}

extension String {
    /// Whether it begins with these bytes.
    fileprivate func begins(with others: [UInt8]) -> Bool {
        guard utf8.count >= others.count else { return false }
        let isEqual = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            unsafe others.withUnsafeBufferPointer { others in
                guard let first = bytes.baseAddress, let second = others.baseAddress else { return others.isEmpty }
                return unsafe memcmp(first, second, others.count) == 0
            }
        }
        return isEqual ?? utf8.starts(with: others)
    }

    /// Whether another text is its beginning, byte by byte. Comparing a long text as characters would take longer than
    /// to lay out what is new.
    ///
    /// - Parameter ends: how many bytes to compare at each end of the other text; nil for all.
    fileprivate func beginsWithBytes(of other: String, atEnds ends: Int?) -> Bool {
        let count = other.utf8.count
        guard utf8.count >= count else { return false }
        let isEqual = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            unsafe other.utf8.withContiguousStorageIfAvailable { others in
                guard count > 0, let first = bytes.baseAddress, let second = others.baseAddress else { return true }
                if unsafe first == second { return true }
                guard let ends, count > 2 * ends else { return unsafe memcmp(first, second, count) == 0 }
                let last = count - ends
                return unsafe memcmp(first, second, ends) == 0 && memcmp(first + last, second + last, ends) == 0
            }
        }
        return (isEqual ?? nil) ?? utf8.starts(with: other.utf8)
    }
}
