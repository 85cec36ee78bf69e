/// The composed text, edited key by key. It knows keys but no terminal.
struct ComposerEditor: Sendable {
    enum Step: Equatable {
        case unfinished
        /// The screen must be drawn again.
        case cleared
        /// The job must be stopped.
        case suspended
        case submitted
        case ended
        case interrupted
    }

    /// A hint shown below the text for a moment.
    enum Hint: Equatable {
        case none
        case words([String])
        case message(String)
    }

    private(set) var edited = EditedText()
    /// While the history is searched.
    private(set) var search: HistorySearch?
    private var history: ComposerHistory
    private let completions: [String]
    private(set) var hint = Hint.none
    private var killed = ""
    private var wasInterrupted = false

    init(history: [String] = [], completions: [String] = []) {
        self.history = ComposerHistory(history)
        self.completions = completions.filter { $0.first.map(WordCompletion.marks.contains) ?? false }.sorted()
    }

    var text: String { edited.text }

    /// The same without the hints that are only shown while typing.
    var atRest: ComposerEditor {
        var editor = self
        editor.hint = .none
        editor.search = nil
        editor.edited.move(to: edited.characters.count)
        return editor
    }

    mutating func receive(_ key: ComposerKey) -> Step {
        hint = .none
        let isSecond = wasInterrupted
        wasInterrupted = false
        if key == .clearScreen { return .cleared }
        if key == .suspend { return .suspended }
        if search != nil, let step = receiveWhileSearching(key) { return step }
        switch key {
        case .submit: return submit()
        case .interrupt: return interrupt(isSecond)
        case .end:
            if edited.isEmpty { return .ended }
            delete(edited.cursor..<min(edited.cursor + 1, edited.characters.count))
        case .up: if !edited.moveLine(up: true) { recall(history.older(than: edited.text)) }
        case .down: if !edited.moveLine(up: false) { recall(history.newer(than: edited.text)) }
        case .search: search = HistorySearch(before: edited)
        case .complete: complete()
        case .escape, .abandon, .clearScreen, .suspend: break
        default: edit(key)
        }
        return .unfinished
    }

    /// Handles a key during a search; nil if the key ended the search and must be handled as usual.
    private mutating func receiveWhileSearching(_ key: ComposerKey) -> Step? {
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

    private mutating func edit(_ key: ComposerKey) {
        let cursor = edited.cursor
        let count = edited.characters.count
        switch key {
        case .text(let scalar): insert(String(Character(scalar)))
        case .paste(let text): insert(text, folding: EditedText.longPaste)
        case .cutPaste(let text):
            hint = .message("the paste was cut off; this much arrived")
            insert(text, folding: EditedText.longPaste)
        case .newLine: insert("\n")
        case .left: edited.move(to: cursor - 1)
        case .right: edited.move(to: cursor + 1)
        case .wordLeft: edited.move(to: edited.wordStart())
        case .wordRight: edited.move(to: edited.wordEnd())
        case .lineStart: edited.move(to: edited.lineStart(of: cursor))
        case .lineEnd: edited.move(to: edited.lineEnd(of: cursor))
        case .deleteBackward: delete(max(0, cursor - 1)..<cursor)
        case .deleteForward: delete(cursor..<min(cursor + 1, count))
        case .deleteWordBackward: kill(edited.wordStart()..<cursor)
        case .deleteSpacedWordBackward: kill(edited.wordStart(spaced: true)..<cursor)
        case .deleteWordForward: kill(cursor..<edited.wordEnd())
        case .deleteToLineStart:
            let start = edited.lineStart(of: cursor)
            // At the start of a line, the previous line feed is deleted, so that the key keeps working.
            kill((start == cursor ? max(0, start - 1) : start)..<cursor)
        case .deleteToLineEnd:
            let end = edited.lineEnd(of: cursor)
            kill(cursor..<(end == cursor ? min(count, end + 1) : end))
        case .yank: insert(killed, folding: EditedText.longPaste)
        default: break
        }
    }

    mutating func insert(_ text: String, folding limit: Int = .max) {
        guard edited.byteCount + text.utf8.count <= Composer.limit else {
            hint = .message("the limit is \(Composer.limit / 1024) KB; pass longer text as a file")
            return
        }
        edited.insert(text, folding: limit)
    }

    /// Puts a text in the place of the last characters before the cursor.
    mutating func replace(last count: Int, with text: String) {
        (hint, search) = (.none, nil)
        let before = edited
        edited.remove(max(0, edited.cursor - count)..<edited.cursor)
        insert(text)
        // A text that is refused because it is too long must not cost what was there.
        if hint != .none { edited = before }
    }

    private mutating func delete(_ range: Range<Int>) { edited.remove(range) }

    private mutating func kill(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        killed = edited.remove(range)
    }

    private mutating func recall(_ text: String?) {
        if let text { edited = EditedText(text, folding: EditedText.longRecall) }
    }

    /// A backslash at the end of the line starts a new line; two of them are one literal backslash.
    mutating func submit() -> Step {
        let end = edited.lineEnd(of: edited.cursor)
        let slashes = edited.characters[..<end].reversed().prefix { $0 == "\\" }.count
        guard edited.cursor == end, slashes % 2 == 1 else { return .submitted }
        edited.remove(end - 1..<end)
        insert("\n")
        return .unfinished
    }

    private mutating func interrupt(_ isSecond: Bool) -> Step {
        if isSecond { return .interrupted }
        wasInterrupted = true
        // Ctrl-Y inserts it again.
        kill(0..<edited.characters.count)
        history.reset()
        hint = .message("press Ctrl-C again to quit")
        return .unfinished
    }

    private mutating func complete() {
        let completion = WordCompletion(edited, among: completions)
        if let addition = completion?.addition { insert(addition) }
        hint = completion.map { $0.choices.isEmpty ? .none : .words($0.choices) } ?? .none
    }
}

/// The completions of the word before the cursor, if it begins with `/` or `@`.
struct WordCompletion: Sendable {
    static let marks: Set<Character> = ["/", "@"]

    /// The text to insert.
    private(set) var addition = ""
    /// The choices, if there is nothing to insert.
    private(set) var choices: [String] = []

    init?(_ edited: EditedText, among completions: [String]) {
        let line = String(edited.characters[..<edited.cursor])
        // A command may be completed with its argument: `/attach REA` with the name of a file.
        let isCommand = line.hasPrefix("/") && completions.contains { $0.contains(" ") && $0.hasPrefix(line) }
        let start = isCommand ? 0 : edited.wordStart(spaced: true)
        // The end of a word, and not of the spaces after one.
        guard start < edited.cursor, Self.marks.contains(edited.characters[start]),
            isCommand || !edited.characters[edited.cursor - 1].isWhitespace
        else { return nil }
        let typed = String(edited.characters[start..<edited.cursor])
        let fitting = completions.filter {
            // A file may have spaces in its name, and then quotes around it.
            $0.hasPrefix(typed) && (typed.contains(" ") || !$0.contains(" ") || typed.first == "@")
        }
        guard let first = fitting.first, let last = fitting.last else { return nil }
        if fitting.count == 1 {
            addition = String(first.dropFirst(typed.count)) + (edited.isAtEnd ? " " : "")
            return
        }
        // They are sorted, so a prefix of the first and the last is a prefix of all.
        let shared = zip(first, last).prefix { $0 == $1 }.count
        addition = String(first.prefix(shared).dropFirst(typed.count))
        if addition.isEmpty { choices = fitting }
    }
}
