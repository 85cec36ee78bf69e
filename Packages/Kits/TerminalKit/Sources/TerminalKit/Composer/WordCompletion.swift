/// What the word before the cursor can become, if it begins with `/`.
struct WordCompletion: Sendable {
    /// What is to be inserted.
    private(set) var addition = ""
    /// What there is to choose from, when that is all one can say.
    private(set) var choices: [String] = []

    init?(_ edited: EditedText, among completions: [String]) {
        let line = String(edited.characters[..<edited.cursor])
        // A command may be completed with what belongs behind it: `/attach REA` with the name of a file.
        let isCommand = line.hasPrefix("/") && completions.contains { $0.contains(" ") && $0.hasPrefix(line) }
        let start = isCommand ? 0 : edited.wordStart(spaced: true)
        // The end of a word, and not of the spaces behind one.
        guard start < edited.cursor, edited.characters[start] == "/",
            isCommand || !edited.characters[edited.cursor - 1].isWhitespace
        else { return nil }
        let typed = String(edited.characters[start..<edited.cursor])
        let fitting = completions.filter { $0.hasPrefix(typed) && (typed.contains(" ") || !$0.contains(" ")) }
        guard let first = fitting.first, let last = fitting.last else { return nil }
        if fitting.count == 1 {
            addition = String(first.dropFirst(typed.count)) + (edited.isAtEnd ? " " : "")
            return
        }
        // They are sorted, so that what the outer ones share all share.
        let shared = zip(first, last).prefix { $0 == $1 }.count
        addition = String(first.prefix(shared).dropFirst(typed.count))
        if addition.isEmpty { choices = fitting }
    }
}
