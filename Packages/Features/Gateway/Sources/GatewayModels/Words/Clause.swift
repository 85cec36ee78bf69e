/// One instruction of a message, or what might be one.
struct Clause {
    let tokens: [Token]
    /// Where the first word stands that says something.
    let head: Int

    init(_ tokens: [Token]) {
        self.tokens = tokens
        head =
            tokens.firstIndex { token in
                switch token.kind {
                case .word: !Vocabulary.fillers.contains(token.lower) && Int(token.text) == nil && token.text != "-"
                case .mark: false
                case .quoted, .json: true
                }
            } ?? tokens.count
    }

    /// The word that it begins with.
    var verb: String { head < tokens.count ? tokens[head].lower : "" }

    /// All of it, as it can be told back.
    var words: String {
        var words = ""
        for token in tokens {
            if token.kind != .mark, !words.isEmpty { words += " " }
            words += token.kind == .quoted ? "“\(token.text)”" : token.text
        }
        return words
    }

    var quoted: [String] { tokens.compactMap { $0.kind == .quoted ? $0.text : nil } }

    func contains(_ words: Set<String>) -> Bool { index(of: words) != nil }

    /// Where the first of these words stands.
    func index(of words: Set<String>, from start: Int = 0) -> Int? {
        tokens.indices.first { $0 >= start && words.contains(tokens[$0].lower) }
    }

    /// The words of a part, without marks.
    func text(_ range: Range<Int>) -> String {
        tokens[range].filter { $0.kind != .mark }.map(\.text).joined(separator: " ")
    }

    /// What a part names: what stands in quotes there, or else its words without the empty ones at the beginning. A
    /// capital makes a name of them, as in "where is A used?".
    func subject(_ range: Range<Int>, dropping empty: Set<String> = Vocabulary.articles) -> String? {
        guard range.lowerBound < range.upperBound else { return nil }
        if let quoted = tokens[range].first(where: { $0.kind == .quoted }) { return quoted.text }
        var range = range
        while let first = tokens[range].first, first.kind == .mark || empty.contains(first.text) {
            range = range.dropFirst()
        }
        let subject = text(range)
        return subject.isEmpty ? nil : subject
    }
}

extension Clause {
    /// Cuts a message into instructions: at the ends of sentences and lines, at "then", and at "and" before a verb.
    static func clauses(of tokens: [Token]) -> [Clause] {
        var clauses: [Clause] = []
        var current: [Token] = []
        func flush() {
            while let last = current.last, last.lower == "and" || last.isMark(",") { current.removeLast() }
            let clause = Clause(current)
            if clause.head < clause.tokens.count { clauses.append(clause) }
            current = []
        }
        for (index, token) in tokens.enumerated() {
            switch token.kind {
            case .mark where token.text != "," && token.text != ":" && token.text != ")" && token.text != "]": flush()
            case .word where token.lower == "then": flush()
            case .word where token.lower == "and", .mark where token.text == ",":
                let isComplete = current.contains { !Vocabulary.verbs.contains($0.lower) && $0.kind != .mark }
                if isComplete, beginsInstruction(tokens, behind: index) { flush() } else { current.append(token) }
            default: current.append(token)
            }
        }
        flush()
        return clauses
    }

    /// Whether a verb with something behind it comes next.
    private static func beginsInstruction(_ tokens: [Token], behind index: Int) -> Bool {
        var next = index + 1
        while next < tokens.count, tokens[next].lower != "first", Vocabulary.fillers.contains(tokens[next].lower) {
            next += 1
        }
        return next + 1 < tokens.count && Vocabulary.verbs.contains(tokens[next].lower)
            && !tokens[next + 1].isMark(",")
    }
}
