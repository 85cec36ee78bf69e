/// A line with a TODO in it.
struct MarkerLine {
    let number: Int
    let text: String
    private let range: Range<String.Index>

    /// Nil when there is no marker in that line. Where the file has changed since it was searched, the line that has the
    /// expected text now is taken, if there is one only.
    init?(_ lines: FileLines, _ number: Int, _ expected: String?) {
        var place = number
        if let expected, lines[number] != expected {
            let others = lines.lines.indices.filter { lines.lines[$0] == expected }
            if others.count == 1 { place = lines.first + others[0] }
        }
        guard let text = lines[place], let range = Self.marker(in: text) else { return nil }
        self.number = place
        self.text = text
        self.range = range
    }

    /// The line with the marker's word replaced.
    var done: String { text.replacing(range, "DONE") }

    /// What the TODO says, if that can be carried out.
    var order: Replace? {
        var words = text[range.upperBound...].drop { $0 == ":" || $0 == " " }
        // "TODO(ada): …"
        if words.first == "(", let end = words.firstIndex(of: ")") {
            words = words[words.index(after: end)...].drop { $0 == ":" || $0 == " " }
        }
        for end in ["*/", "-->"] where words.hasSuffix(end) { words = words.dropLast(end.count) }
        guard let clause = Clause.clauses(of: Tokenizer.tokens(of: String(words))).first,
            let order = Replace(clause), !order.isPreview
        else { return nil }
        return order
    }

    /// Whether nothing but the comment stands in the line.
    var isAlone: Bool { rest.allSatisfy(\.isWhitespace) }

    /// The line without the comment.
    var rest: String {
        var before = text[..<range.lowerBound]
        let leaders: Set<Character> = ["/", "#", "-", "*", "<", "!", ";", "%", " ", "\t"]
        while let last = before.last, leaders.contains(last) { before.removeLast() }
        return String(before)
    }

    /// Where the first marker stands as a word of its own.
    private static func marker(in text: String) -> Range<String.Index>? {
        var found: Range<String.Index>?
        for marker in ["TODO", "FIXME", "HACK", "XXX"] {
            var start = text.startIndex
            while let range = String(text[start...]).firstRange(of: marker) {
                let rest = String(text[start...])
                let offset = rest.distance(from: rest.startIndex, to: range.lowerBound)
                let first = text.index(start, offsetBy: offset)
                let last = text.index(first, offsetBy: marker.count)
                let before = first > text.startIndex ? text[text.index(before: first)] : " "
                let after = last < text.endIndex ? text[last] : " "
                if !isWord(before), !isWord(after) {
                    if found.map({ first < $0.lowerBound }) ?? true { found = first..<last }
                    break
                }
                start = last
            }
        }
        return found
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}

extension String {
    fileprivate func replacing(_ range: Range<String.Index>, _ other: String) -> String {
        self[..<range.lowerBound] + other + self[range.upperBound...]
    }
}
