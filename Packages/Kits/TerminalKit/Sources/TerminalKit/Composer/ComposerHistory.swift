/// The earlier texts, with the current text as the newest. Edits of earlier texts last as long as the composition.
struct ComposerHistory: Sendable {
    private var entries: [String]
    private var place: Int

    init(_ texts: [String]) {
        // Repeated texts are skipped.
        var entries: [String] = []
        for text in texts where !text.isEmpty && text != entries.last { entries.append(text) }
        place = entries.count
        self.entries = entries + [""]
    }

    /// The text before the current one, which is now `text`; nil at the oldest.
    mutating func older(than text: String) -> String? { go(to: place - 1, from: text) }

    /// The text after the current one.
    mutating func newer(than text: String) -> String? { go(to: place + 1, from: text) }

    /// Returns to the current text, which is empty now.
    mutating func reset() {
        place = entries.count - 1
        entries[place] = ""
    }

    /// The index of the newest text before `end` that contains `words`, in any case.
    func newest(with words: String, before end: Int? = nil) -> Int? {
        let words = words.lowercased()
        let newest = entries.count - 1
        return entries[..<min(end ?? newest, newest)].lastIndex { $0.lowercased().contains(words) }
    }

    func text(at place: Int) -> String { entries[place] }

    private mutating func go(to target: Int, from text: String) -> String? {
        guard entries.indices.contains(target) else { return nil }
        entries[place] = text
        place = target
        return entries[target]
    }
}

/// A search through the history, from the newest backwards.
struct HistorySearch: Sendable, Equatable {
    /// The text before the search, for when it is given up.
    let before: EditedText
    private(set) var words = ""
    private(set) var place: Int?
    private(set) var hasFailed = false

    init(before: EditedText) { self.before = before }

    mutating func append(_ text: String, in history: ComposerHistory) {
        words += text
        // The shown text stays while it matches.
        find(in: history, before: place.map { $0 + 1 })
    }

    mutating func removeLast(in history: ComposerHistory) {
        guard !words.isEmpty else { return }
        words.removeLast()
        place = nil
        find(in: history, before: nil)
    }

    mutating func findOlder(in history: ComposerHistory) { find(in: history, before: place) }

    private mutating func find(in history: ComposerHistory, before end: Int?) {
        guard !words.isEmpty else {
            place = nil
            hasFailed = false
            return
        }
        let found = history.newest(with: words, before: end)
        hasFailed = found == nil
        place = found ?? place
    }
}
