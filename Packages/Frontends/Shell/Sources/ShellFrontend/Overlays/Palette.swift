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
        let actions = registry.actions.all.filter { offers($0, in: registry) }.map {
            Entry(target: .action($0.id), title: $0.summary, note: $0.id)
        }
        return Palette("Commands and screens", screens + actions)
    }

    /// Whether an action can be done here. A shell within the shell would have no terminal.
    static func offers(_ action: Action, in registry: Registry) -> Bool {
        !action.isHidden && registry.actions.owner(of: action) != "shell"
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
        // An id that is written out, with or without its dots, is what was meant.
        let id = words.joined(separator: ".")
        let ranked = entries.indices.compactMap { index -> (index: Int, score: Int)? in
            var score = 0
            for word in words {
                guard let one = Self.score(of: word, in: entries[index]) else { return nil }
                score += one
            }
            return (index, entries[index].note.lowercased() == id ? .max : score)
        }
        matches = ranked.sorted { ($0.score, $1.index) > ($1.score, $0.index) }.map(\.index)
        selected = 0
    }

    /// How well a word fits; nil if its letters do not come in this order.
    private static func score(of word: String, in entry: Entry) -> Int? {
        [entry.note, entry.title].compactMap { Fuzzy.score(of: word, in: $0) }.max()
    }
}

/// Finds a word whose letters come in order, not necessarily side by side.
enum Fuzzy {
    /// A letter beside the one before, one that begins a word, and any other.
    private static let (beside, begins, other) = (8, 6, 1)
    /// What letters between two that fit cost at most.
    private static let mostGap = 4

    /// How well a word, in lower case, fits a text; nil if it does not.
    ///
    /// Of all ways to find its letters the best one counts.
    static func score(of word: String, in text: String) -> Int? {
        let letters = Array(word.unicodeScalars)
        let text = Array(text.lowercased().unicodeScalars)
        guard !letters.isEmpty else { return 0 }
        guard text.count >= letters.count else { return nil }
        func begins(_ place: Int) -> Bool { place == 0 || !text[place - 1].properties.isAlphabetic }
        // The best score of the letters so far if the last of them is at that place.
        var scores = text.indices.map { place -> Int? in
            text[place] == letters[0] ? begins(place) ? Self.begins : other : nil
        }
        for letter in letters.dropFirst() {
            var next = [Int?](repeating: nil, count: text.count)
            // The best score of a place that is too far away for its distance to matter.
            var distant: Int?
            for place in text.indices.dropFirst() {
                if place - mostGap - 1 >= 0, let score = scores[place - mostGap - 1] {
                    distant = max(distant ?? score, score)
                }
                guard text[place] == letter else { continue }
                let own = begins(place) ? Self.begins : other
                var best = distant.map { $0 + own - mostGap }
                for gap in 0..<min(mostGap, place) {
                    guard let score = scores[place - 1 - gap] else { continue }
                    let sum = score + (gap == 0 ? beside : own - gap)
                    best = max(best ?? sum, sum)
                }
                next[place] = best
            }
            scores = next
        }
        guard let best = scores.compactMap({ $0 }).max() else { return nil }
        // Letters from everywhere are in almost every text.
        guard best >= letters.count else { return nil }
        // The text itself comes before longer ones.
        return text == letters ? best + beside : best
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
            let note = StyledText(entry.note, Style(.mutedForeground)).onOneLine
            let title = StyledText(entry.title).onOneLine.truncated(to: max(1, columns - note.width - 2))
            rows.append((title.padded(to: max(1, columns - note.width)) + note).truncated(to: columns))
        }
        if matches.isEmpty { rows.append(StyledText("nothing fits", Style(.mutedForeground))) }
        return (rows, matches.isEmpty ? nil : 1 + selected - first, caret)
    }
}
