import JSON

/// Splits a message into tokens.
struct Tokenizer {
    private static let quotes: [Character: Character] = ["\"": "\"", "“": "”", "`": "`", "«": "»", "‘": "’", "'": "'"]
    private static let marks: Set<Character> = [".", ",", ";", ":", "!", "?", ")", "]"]
    /// Words that, followed by a colon and a line break, mark the rest as content.
    private static let announcing: Set<String> = [
        "with", "containing", "content", "contents", "saying", "text", "this",
    ]

    private let text: [Character]
    private var place = 0
    private var tokens: [Token] = []
    /// Opening marks without a closing one, so that a long text full of them is not searched again and again.
    private var unclosed: Set<Character> = []
    private var brokenObjects = 0

    static func tokens(of text: String) -> [Token] {
        var tokenizer = Tokenizer(text: Array(text))
        tokenizer.run()
        return tokenizer.tokens
    }

    private init(text: [Character]) {
        self.text = text
    }

    private mutating func run() {
        while place < text.count {
            let character = text[place]
            if character.isNewline {
                tokens.append(Token(.mark, "\n"))
                place += 1
            } else if character.isWhitespace || startsMention {
                place += 1
            } else if !takeFence(), !takeQuoted(character), !takeJSON(character) {
                takeWord()
            }
        }
    }

    /// Whether this is the mark of a file that was attached by its name, which is the word after it.
    private var startsMention: Bool { text[place] == "@" && place + 1 < text.count && !text[place + 1].isWhitespace }

    /// A block from ```` ``` ```` to ```` ``` ````, without the language after the first.
    private mutating func takeFence() -> Bool {
        guard startsFence(at: place), !unclosed.contains("#") else { return false }
        var start = place + 3
        while start < text.count, !text[start].isNewline { start += 1 }
        guard start < text.count else { return false }
        start += 1
        var end = start
        while end < text.count, !startsFence(at: end) { end += 1 }
        guard end < text.count else {
            unclosed.insert("#")
            return false
        }
        // The block belongs to the words on the line before it.
        while tokens.last?.isMark("\n") == true { tokens.removeLast() }
        tokens.append(Token(.quoted, String(text[start..<end])))
        place = end + 3
        return true
    }

    private func startsFence(at index: Int) -> Bool {
        index + 2 < text.count && text[index] == "`" && text[index + 1] == "`" && text[index + 2] == "`"
    }

    private mutating func takeQuoted(_ first: Character) -> Bool {
        guard let last = Self.quotes[first], !unclosed.contains(first) else { return false }
        var end = place + 1
        while end < text.count {
            // An apostrophe inside a word does not close a quotation.
            if text[end] == last, last != "'" && last != "’" || !isLetter(at: end + 1) { break }
            end += 1
        }
        if end == text.count { unclosed.insert(first) }
        guard end < text.count, end > place + 1 else { return false }
        tokens.append(Token(.quoted, String(text[(place + 1)..<end])))
        place = end + 1
        return true
    }

    private func isLetter(at index: Int) -> Bool {
        index < text.count && (text[index].isLetter || text[index].isNumber)
    }

    private mutating func takeJSON(_ first: Character) -> Bool {
        guard first == "{", brokenObjects < 20 else { return false }
        var (depth, end, isText, isEscaped) = (0, place, false, false)
        while end < text.count {
            let character = text[end]
            if isEscaped {
                isEscaped = false
            } else if isText {
                isEscaped = character == "\\"
                isText = character != "\""
            } else if character == "\"" {
                isText = true
            } else if character == "{" {
                depth += 1
            } else if character == "}" {
                depth -= 1
                if depth == 0 { break }
            }
            end += 1
        }
        guard end < text.count else {
            brokenObjects = .max
            return false
        }
        let json = String(text[place...end])
        guard (try? JSON(parsing: json)) != nil else {
            brokenObjects += 1
            return false
        }
        tokens.append(Token(.json, json))
        place = end + 1
        return true
    }

    private mutating func takeWord() {
        var end = place
        while end < text.count, !text[end].isWhitespace { end += 1 }
        var word = text[place..<end]
        place = end
        while let first = word.first, first == "(" || first == "[" { word = word.dropFirst() }
        var behind: [Token] = []
        while let last = word.last, Self.marks.contains(last) {
            if last == ")", word.contains("(") { break }
            behind.append(Token(.mark, String(last)))
            word = word.dropLast()
        }
        if !word.isEmpty { tokens.append(Token(.word, String(word))) }
        tokens += behind.reversed()
        takeAnnounced()
    }

    /// The rest of the message after `with:` at the end of a line, unless it is quoted itself.
    private mutating func takeAnnounced() {
        guard tokens.last?.isMark(":") == true, let word = tokens.dropLast().last,
            Self.announcing.contains(word.lower)
        else { return }
        var start = place
        while start < text.count, text[start].isWhitespace, !text[start].isNewline { start += 1 }
        guard start < text.count, text[start].isNewline, !startsFence(at: start + 1) else { return }
        let rest = String(text[(start + 1)...])
        guard !rest.allSatisfy(\.isWhitespace) else { return }
        tokens.append(Token(.quoted, rest))
        place = text.count
    }
}

/// A piece of a message.
struct Token: Hashable {
    enum Kind {
        case word
        /// Text between quotation marks, backticks or fences.
        case quoted
        /// A JSON object.
        case json
        /// A punctuation mark or a line break.
        case mark
    }

    var kind: Kind
    var text: String

    init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// A word in lower case for comparisons; empty for other tokens.
    var lower: String { kind == .word ? text.lowercased() : "" }

    func isMark(_ sign: String) -> Bool { kind == .mark && text == sign }
}
