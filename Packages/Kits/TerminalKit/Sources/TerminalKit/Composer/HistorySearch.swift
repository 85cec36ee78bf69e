/// A search through the history, from the newest backwards.
struct HistorySearch: Sendable, Equatable {
    /// What was there before, for who gives up.
    let before: EditedText
    private(set) var words = ""
    private(set) var place: Int?
    private(set) var hasFailed = false

    init(before: EditedText) { self.before = before }

    mutating func append(_ text: String, in history: ComposerHistory) {
        words += text
        // What is shown stays as long as it fits.
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

extension ComposerEditor {
    /// Takes a key while the history is searched; nothing when the key ended the search and is to be taken as usual.
    mutating func receiveWhileSearching(_ key: ComposerKey) -> Step? {
        guard var current = search else { return nil }
        switch key {
        case .text(let scalar): current.append(String(Character(scalar)), in: history)
        case .paste(let text), .cutPaste(let text): current.append(text.filter { !$0.isNewline }, in: history)
        case .deleteBackward: current.removeLast(in: history)
        case .search: current.findOlder(in: history)
        case .abandon, .interrupt:
            edited = current.before
            search = nil
            return .unfinished
        default:
            search = nil
            return key == .escape ? .unfinished : nil
        }
        search = current
        edited =
            current.place.map { EditedText(history.text(at: $0), folding: EditedText.longRecall) } ?? current.before
        return .unfinished
    }
}
