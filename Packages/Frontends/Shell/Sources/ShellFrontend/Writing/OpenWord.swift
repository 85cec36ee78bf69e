import JSON
import Registry

/// The word before the cursor of a text, which Tab completes: a file after `@`, or the id of an action or a screen.
struct OpenWord: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case file(path: String, isQuoted: Bool)
        /// Without its slash.
        case id(String)
    }

    let kind: Kind
    /// The characters before the cursor that a completion replaces.
    let count: Int
    /// The whole text, to find out whether it is still the same when the answer comes.
    private let before: String
    private let after: String

    /// Nil if the word is neither.
    init?(_ text: (before: String, after: String)) {
        (before, after) = text
        if let mention = FileMention.unfinished(atEndOf: text.before) {
            kind = .file(path: mention.path, isQuoted: mention.isQuoted)
            count = mention.count
        } else if text.before.hasPrefix("/"), text.after.isEmpty, !text.before.contains(where: \.isWhitespace) {
            kind = .id(String(text.before.dropFirst()))
            count = text.before.count
        } else {
            return nil
        }
    }

    /// Whether a text is still what it was.
    func isIn(_ text: (before: String, after: String)) -> Bool { text == (before, after) }

    /// What was typed of it.
    var typed: String {
        switch kind {
        case .file(let path, _): path
        case .id(let id): id
        }
    }

    /// Something that the word may become.
    struct Match: Sendable, Hashable {
        /// The whole path or id.
        let text: String
        /// What is listed, if several match.
        let name: String
        /// Whether more follows, as after a folder.
        var isOpen = false
    }

    /// What to write instead of the word: the match, or what all matches begin with. Nil if that adds nothing.
    func replacement(_ matches: [Match]) -> String? {
        guard let first = matches.first else { return nil }
        let isOnly = matches.count == 1
        let text = isOnly ? first.text : matches.dropFirst().reduce(first.text) { Self.shared($0, $1.text) }
        let isOpen = isOnly ? first.isOpen : true
        guard isOnly || text.unicodeScalars.count > typed.unicodeScalars.count else { return nil }
        let written =
            switch kind {
            case .file(_, let isQuoted): FileMention.written(text, isQuoted: isQuoted, isOpen: isOpen)
            case .id: "/\(text)"
            }
        return isOpen || after.first?.isWhitespace == true ? written : written + " "
    }

    /// What two texts begin with, scalar by scalar, as paths are compared.
    private static func shared(_ one: String, _ other: String) -> String {
        let scalars = zip(one.unicodeScalars, other.unicodeScalars).prefix { $0 == $1 }.map(\.0)
        return String(String.UnicodeScalarView(scalars))
    }
}

/// What completes a file of a composer, for whoever may look at files.
struct FileRequest: Sendable, Hashable {
    let view: ViewID
    let word: OpenWord
    /// The action of the composer, its parameter that receives files, and the arguments that it has already.
    let action: String
    let parameter: String
    let given: JSONObject
}
