/// The text of a search field, as a query that SQLite's full-text search always accepts.
///
/// Words have to occur, `"several words"` in this order, `-word` not at all, `wor*` as the beginning of one. Anything
/// else that FTS5 would take for syntax is text.
///
///     guard let query = SearchQuery(typed) else { return [] }
///     try connection.all("SELECT rowid FROM notes_text WHERE notes_text MATCH ?", query.text) { … }
///
/// An index is written in the same transaction as its data, not by a trigger: the schema of a file is not trusted, and
/// SQLite 3.40 does not let a trigger use a virtual table then.
public struct SearchQuery: Sendable, Hashable {
    /// The query, to be bound to `MATCH ?`.
    public let text: String

    /// Longer queries are cut, because FTS5 fails beyond its limits.
    private static let limit = 64

    /// Nil where nothing is wanted, only unwanted; full-text search cannot answer that.
    public init?(_ typed: String) {
        var (wanted, unwanted): ([String], [String]) = ([], [])
        for term in Self.terms(in: typed).prefix(Self.limit) {
            let quoted = "\"\(term.text)\"" + (term.isPrefix ? "*" : "")
            if term.isUnwanted { unwanted.append(quoted) } else { wanted.append(quoted) }
        }
        guard !wanted.isEmpty else { return nil }
        let positive = wanted.joined(separator: " ")
        text = unwanted.isEmpty ? positive : "(\(positive)) NOT (\(unwanted.joined(separator: " OR ")))"
    }

    private struct Term {
        var text = ""
        var isUnwanted = false
        var isPrefix = false
    }

    private static func terms(in typed: String) -> [Term] {
        var terms: [Term] = []
        var rest = typed.unicodeScalars[...]
        while let first = rest.first {
            if first.properties.isWhitespace {
                rest.removeFirst()
                continue
            }
            var term = Term()
            if first == "-" {
                term.isUnwanted = true
                rest.removeFirst()
            }
            let isPhrase = rest.first == "\""
            if isPhrase { rest.removeFirst() }
            // A phrase that is not closed ends with the text.
            let body = rest.prefix { isPhrase ? $0 != "\"" : !$0.properties.isWhitespace && $0 != "\"" }
            rest = rest.dropFirst(body.count)
            if isPhrase { rest = rest.dropFirst() }
            term.isPrefix = !isPhrase && body.last == "*"
            term.text = String(String.UnicodeScalarView(body.filter { $0 != "\0" && $0 != "\"" }))
            // Punctuation alone is not a word for the index.
            if body.contains(where: isOfWord) { terms.append(term) }
        }
        return terms
    }

    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            true
        default: false
        }
    }
}

extension SearchQuery {
    /// A pattern for `LIKE ? ESCAPE '\'` that matches every text with this one in it.
    public static func pattern(_ text: String) -> String {
        var pattern = "%"
        for scalar in text.unicodeScalars {
            if ["%", "_", "\\"].contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        return pattern + "%"
    }
}
