import JSON

/// A part of a message that may be an instruction.
struct Clause {
    let tokens: [Token]
    /// The index of the first meaningful word.
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

    /// The word at `head`.
    var verb: String { head < tokens.count ? tokens[head].lower : "" }

    /// The whole clause as text.
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

    /// The index of the first of these words.
    func index(of words: Set<String>, from start: Int = 0) -> Int? {
        tokens.indices.first { $0 >= start && words.contains(tokens[$0].lower) }
    }

    /// The words of a range, without marks.
    func text(_ range: Range<Int>) -> String {
        tokens[range].filter { $0.kind != .mark }.map(\.text).joined(separator: " ")
    }

    /// The subject in a range: its quoted text, or else its words without filler words at the beginning. A capital
    /// letter makes a word a name, as in "where is A used?".
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
    /// Splits a message into instructions: at the ends of sentences and lines, at "then", and at "and" before a verb.
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

    /// Whether a verb with another word after it comes next.
    private static func beginsInstruction(_ tokens: [Token], behind index: Int) -> Bool {
        var next = index + 1
        while next < tokens.count, tokens[next].lower != "first", Vocabulary.fillers.contains(tokens[next].lower) {
            next += 1
        }
        return next + 1 < tokens.count && Vocabulary.verbs.contains(tokens[next].lower)
            && !tokens[next + 1].isMark(",")
    }
}

extension Clause {
    /// The files and folders that it names, in order.
    var places: [Place] {
        tokens.compactMap { token in
            switch token.kind {
            case .word: Place(token.text)
            case .quoted: token.text.contains(where: \.isWhitespace) ? nil : Place(token.text)
            default: nil
            }
        }
    }

    /// The first file that it names after an index.
    func file(from start: Int = 0) -> Place? {
        guard start < tokens.count else { return nil }
        return Clause(Array(tokens[start...])).places.first
    }

    /// The lines that it names, such as "line 3", "lines 3 to 9", "lines 3-9", "the first 20 lines".
    var lines: ClosedRange<Int>? {
        if let range = places.lazy.compactMap(\.lines).first { return range }
        guard let word = index(of: ["line", "lines"]) else { return nil }
        if word > 1, tokens[word - 2].lower == "first", let count = number(at: word - 1) { return 1...count }
        guard word + 1 < tokens.count else { return nil }
        if let range = Place.range(tokens[word + 1].text) {
            guard range.lowerBound == range.upperBound, word + 3 < tokens.count,
                ["to", "until", "through", "and", "-", "–"].contains(tokens[word + 2].lower),
                let last = number(at: tokens[word + 3].lower == "line" ? word + 4 : word + 3), last >= range.lowerBound
            else { return range }
            return range.lowerBound...last
        }
        return nil
    }

    private func number(at index: Int) -> Int? {
        guard tokens.indices.contains(index), let number = Int(tokens[index].text), number > 0 else { return nil }
        return min(number, Place.lastLine)
    }

    /// Which one of several it means, such as "the second", "the last", "number 3", "#3".
    var ordinal: Ordinal? {
        for (index, token) in tokens.enumerated() {
            let word = token.lower
            if word == "last" { return .last }
            if let number = Vocabulary.ordinals[word], index + 1 >= tokens.count || Int(tokens[index + 1].text) == nil {
                return .nth(number)
            }
            if word.hasPrefix("#"), let number = Int(word.dropFirst()), number > 0 { return .nth(number) }
            if word == "number", index + 1 < tokens.count, let number = Int(tokens[index + 1].text), number > 0 {
                return .nth(number)
            }
            for end in ["st", "nd", "rd", "th"] where word.hasSuffix(end) {
                if let number = Int(word.dropLast(2)), number > 0 { return .nth(number) }
            }
        }
        return nil
    }

    /// The kinds of markers that it names.
    var markers: [String] {
        var found: [String] = []
        for token in tokens {
            if let marker = Vocabulary.markers[token.lower], !found.contains(marker) { found.append(marker) }
        }
        return found
    }
}

/// One of several, counted from one.
enum Ordinal: Hashable {
    case nth(Int)
    case last

    func pick<Element>(from elements: [Element]) -> Element? {
        switch self {
        case .nth(let number): elements.indices.contains(number - 1) ? elements[number - 1] : nil
        case .last: elements.last
        }
    }

    var words: String {
        switch self {
        case .nth(let number):
            Vocabulary.ordinals.first { $0.value == number }?.key ?? "number \(number)"
        case .last: "last"
        }
    }
}

/// A named file or folder, optionally with lines: `Sources/main.swift:12-20`.
struct Place: Hashable {
    static let lastLine = 100_000_000

    var path: String
    var lines: ClosedRange<Int>?

    /// Nil for words that do not look like a path.
    init?(_ word: String) {
        var path = word[...]
        if let colon = word.lastIndex(of: ":"), let range = Self.range(word[word.index(after: colon)...]) {
            lines = range
            path = word[..<colon]
        }
        guard Self.looksLikePath(path) else { return nil }
        self.path = String(path)
    }

    init(path: String, lines: ClosedRange<Int>? = nil) {
        self.path = path
        self.lines = lines
    }

    /// "12", "12-20" or "12–20".
    static func range(_ text: some StringProtocol) -> ClosedRange<Int>? {
        let numbers = text.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "–" }.map { Int($0) }
        guard (1...2).contains(numbers.count), let first = numbers[0], let last = numbers[numbers.count - 1] else {
            return nil
        }
        guard first > 0, last >= first else { return nil }
        return min(first, lastLine)...min(last, lastLine)
    }

    private static func looksLikePath(_ path: Substring) -> Bool {
        guard !path.isEmpty, !path.contains("://"), !path.contains("*") else { return false }
        if Vocabulary.plainFiles.contains(path.lowercased()) { return true }
        if path.contains("/") { return path.count > 1 }
        guard let dot = path.lastIndex(of: "."), dot != path.startIndex || path.count > 2 else { return false }
        let end = path[path.index(after: dot)...]
        return (1...10).contains(end.count) && end.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            && end.contains(where: \.isLetter)
    }
}

/// Where to search.
struct Scope: Hashable {
    /// A file or folder; nil for the whole project.
    var path: String?
    /// The pattern for files.
    var glob: String?

    /// The input for a tool.
    var input: JSONObject {
        var input = JSONObject()
        if let path { input["path"] = .string(path) }
        if let glob { input["glob"] = .string(glob) }
        return input
    }

    /// The text to append to a sentence, such as " in `Sources`".
    var words: String {
        let files = glob.map { " in files matching \(Markdown.code($0))" } ?? ""
        return (path.map { " in \(Markdown.code($0))" } ?? "") + files
    }
}

extension Clause {
    /// The scope that it names, and the index at which that starts.
    var scope: (scope: Scope, start: Int) {
        var scope = Scope()
        var start = tokens.count
        for index in tokens.indices where index + 1 < tokens.count {
            guard isLanguage(at: index) else { continue }
            scope.glob = Vocabulary.languages[tokens[index].lower]
            start = min(start, index)
        }
        if let pattern = tokens.indices.first(where: { tokens[$0].kind != .mark && tokens[$0].text.hasPrefix("*.") }) {
            scope.glob = tokens[pattern].text
            start = min(start, pattern)
        }
        // The last "in" is the one that names a place: "search for the word in in Sources".
        for index in tokens.indices.reversed() where Vocabulary.places.contains(tokens[index].lower) {
            guard let place = place(behind: index) else { continue }
            if case .path(let path) = place { scope.path = path }
            return (scope, min(start, index))
        }
        if let index = index(of: ["everywhere"]) { start = min(start, index) }
        return (scope, start)
    }

    enum Named {
        case whole
        case path(String)
    }

    /// The place named after a word such as "in"; nil if there is none.
    func place(behind index: Int) -> Named? {
        for next in (index + 1)..<max(index + 1, tokens.count) {
            let token = tokens[next]
            if token.kind == .quoted { return .path(token.text) }
            guard token.kind == .word else { return nil }
            if Vocabulary.articles.contains(token.lower) || ["file", "folder", "directory"].contains(token.lower) {
                continue
            }
            let isKindOfFile = token.text.hasPrefix("*.") || isLanguage(at: next)
            if isKindOfFile || Vocabulary.whole.contains(token.text) { return .whole }
            return .path(Place(token.text)?.path ?? token.text)
        }
        return .whole
    }

    /// "Swift files"
    private func isLanguage(at index: Int) -> Bool {
        Vocabulary.languages[tokens[index].lower] != nil && index + 1 < tokens.count
            && ["files", "file", "code", "sources"].contains(tokens[index + 1].lower)
    }
}
