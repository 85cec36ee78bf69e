import Capabilities
import Registry
import TerminalKit

/// Every action and screen, found by a few letters of its name.
struct Palette: Sendable {
    /// Something to choose.
    struct Entry: Sendable, Hashable {
        let target: ActionForm.Target
        let title: String
        /// What is shown beside the title: the id, or a key.
        let note: String
        /// What is searched besides the title.
        var words = ""
    }

    /// What a key did.
    enum Step: Sendable {
        case unfinished
        case chosen(Int)
        case cancelled
    }

    let title: String
    let entries: [Entry]
    private(set) var field = ComposerField()
    /// The entries that match, the best first.
    private(set) var matches: [Int]
    private(set) var selected = 0

    init(_ title: String, _ entries: [Entry]) {
        self.title = title
        self.entries = entries
        matches = Array(entries.indices)
    }

    /// All that a person can do, and all screens.
    static func all(_ registry: Registry) -> Palette {
        let screens = registry.screens.all.map {
            Entry(target: .screen($0.id), title: "Open \($0.title)", note: $0.id)
        }
        // A shell within the shell would have no terminal.
        let actions = registry.actions.all.filter { !$0.isHidden && registry.actions.owner(of: $0) != "shell" }.map {
            Entry(target: .action($0.id), title: $0.summary, note: $0.id)
        }
        return Palette("Commands and screens", screens + actions)
    }

    mutating func receive(_ event: InputEvent) -> Step {
        if case .key(let press) = event {
            switch (press.key, press.modifiers) {
            case (.escape, []), (.character("c"), .ctrl): return .cancelled
            case (.up, []), (.character("p"), .ctrl), (.tab, .shift): move(-1)
            case (.down, []), (.character("n"), .ctrl), (.tab, []): move(1)
            case (.pageUp, []): move(-10)
            case (.pageDown, []): move(10)
            case (.enter, []): return matches.isEmpty ? .unfinished : .chosen(matches[selected])
            default: edit(event)
            }
            return .unfinished
        }
        edit(event)
        return .unfinished
    }

    private mutating func move(_ step: Int) { selected = min(max(0, selected + step), max(0, matches.count - 1)) }

    private mutating func edit(_ event: InputEvent) {
        let before = field.text
        _ = field.receive(event)
        guard field.text != before else { return }
        let words = field.text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        let ranked = entries.indices.compactMap { index -> (index: Int, score: Int)? in
            var score = 0
            for word in words {
                guard let one = Self.score(of: word, in: entries[index]) else { return nil }
                score += one
            }
            return (index, score)
        }
        matches = ranked.sorted { ($0.score, $1.index) > ($1.score, $0.index) }.map(\.index)
        selected = 0
    }

    /// How well a word fits; nil if its letters do not come in this order.
    private static func score(of word: String, in entry: Entry) -> Int? {
        let best = [entry.note, entry.title, entry.words].compactMap { Fuzzy.score(of: word, in: $0) }.max()
        return best
    }
}

/// Finds a word whose letters come in order, not necessarily side by side.
enum Fuzzy {
    /// How well a word, in lower case, fits a text; nil if it does not.
    static func score(of word: String, in text: String) -> Int? {
        let text = Array(text.lowercased().unicodeScalars)
        var best: Int?
        // A word may begin at any of its first letter's places.
        for start in text.indices where text[start] == word.unicodeScalars.first {
            var (place, score, isFirst) = (start, 0, true)
            var last = start - 1
            var fits = true
            for letter in word.unicodeScalars {
                guard let found = text[place...].firstIndex(of: letter) else {
                    fits = false
                    break
                }
                let beginsWord = found == 0 || !text[found - 1].properties.isAlphabetic
                score += found == last + 1 && !isFirst ? 8 : beginsWord ? 6 : 1
                score -= min(4, found - last - 1)
                (last, place, isFirst) = (found, found + 1, false)
            }
            if fits, best.map({ score > $0 }) ?? true { best = score }
        }
        guard !word.isEmpty else { return 0 }
        // Letters from everywhere are in almost every text.
        return best.flatMap { $0 >= word.unicodeScalars.count ? $0 : nil }
    }
}

// MARK: Drawing

extension Palette {
    /// The rows: what is typed, and the entries around the selected one.
    func rows(columns: Int, rows count: Int) -> (rows: [StyledText], selected: Int?, caret: CellPosition) {
        let (input, caret) = field.rows(prompt: "› ", columns: columns, rows: 1)
        let room = max(1, count - 1)
        let first = max(0, min(selected - room / 2, matches.count - room))
        var rows = Array(input.prefix(1))
        for index in matches[first..<min(matches.count, first + room)] {
            let entry = entries[index]
            let note = StyledText(entry.note, Style(.mutedForeground))
            let title = StyledText(entry.title).truncated(to: max(1, columns - note.width - 2))
            rows.append((title.padded(to: max(1, columns - note.width)) + note).truncated(to: columns))
        }
        if matches.isEmpty { rows.append(StyledText("nothing fits", Style(.mutedForeground))) }
        return (rows, matches.isEmpty ? nil : 1 + selected - first, caret)
    }
}
