/// What was composed before, and the text that is being composed as the newest of it; edits of old ones last as long
/// as the composition.
struct ComposerHistory: Sendable {
    private var entries: [String]
    private var place: Int

    init(_ texts: [String]) {
        // Nobody wants to step over the same text twice.
        var entries: [String] = []
        for text in texts where !text.isEmpty && text != entries.last { entries.append(text) }
        place = entries.count
        self.entries = entries + [""]
    }

    /// The text before the current one, which is now `text`; nothing when it was the oldest.
    mutating func older(than text: String) -> String? { go(to: place - 1, from: text) }

    /// The text after the current one.
    mutating func newer(than text: String) -> String? { go(to: place + 1, from: text) }

    /// Goes back to the text that is being composed, which is empty now.
    mutating func reset() {
        place = entries.count - 1
        entries[place] = ""
    }

    /// The place of the newest text before `end` in which `words` stand, whatever their case.
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
