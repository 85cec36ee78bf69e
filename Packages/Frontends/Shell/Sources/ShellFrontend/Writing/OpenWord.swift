import JSON
import Registry
import Screens

/// The word before the cursor of a text, which Tab completes: a file after `@`, the id of an action or a screen, or a
/// value in a form.
struct OpenWord: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case file(path: String, isQuoted: Bool)
        /// Without its slash.
        case id(String)
        /// What a field of a form has, or one of the words of a list.
        case value(String, isInList: Bool)
    }

    let kind: Kind
    /// The characters before the cursor that a completion replaces.
    let count: Int
    /// The whole text, to find out whether it is still the same when the answer comes.
    private let before: String
    private let after: String

    /// The word of a composer; nil if it is neither a file nor an id.
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

    /// The word of a field, which may be empty; nil if it cannot be completed where the cursor is.
    ///
    /// - Parameter isList: whether spaces are between words. Otherwise the word is all of the text.
    init?(value text: (before: String, after: String), isList: Bool) {
        (before, after) = text
        // A pasted text that is shown as a few words is no beginning of anything.
        guard !before.contains(where: { $0.isNewline || $0 == "\u{FFFC}" }),
            after.isEmpty || isList && after.first?.isWhitespace == true,
            // Such a list is JSON, whose words are quoted.
            !(isList && before.hasPrefix("["))
        else { return nil }
        let word = isList ? before.suffix(while: { !$0.isWhitespace }) : before[...]
        kind = .value(String(word), isInList: isList)
        count = word.count
    }

    /// Whether a match can be written here, so that it is read as the same.
    func canBecome(_ text: String) -> Bool {
        switch kind {
        case .file: FileMention.canWrite(text)
        case .id: true
        case .value(_, let isInList):
            !text.isEmpty && !text.contains { isInList ? $0.isWhitespace : $0.isNewline }
                && !(isInList && text.hasPrefix("["))
        }
    }

    /// Whether a text is still what it was.
    func isIn(_ text: (before: String, after: String)) -> Bool { text == (before, after) }

    /// The typed part of the word.
    var typed: String {
        switch kind {
        case .file(let path, _): path
        case .id(let id): id
        case .value(let word, _): word
        }
    }

    /// Something that the word may become.
    struct Match: Sendable, Hashable {
        /// The whole path or id.
        let text: String
        /// The name that is listed if several match.
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
            case .value: text
            }
        if case .value(_, isInList: false) = kind { return written }
        return isOpen || after.first?.isWhitespace == true ? written : written + " "
    }

    /// What two texts begin with, scalar by scalar, as paths are compared.
    private static func shared(_ one: String, _ other: String) -> String {
        let scalars = zip(one.unicodeScalars, other.unicodeScalars).prefix { $0 == $1 }.map(\.0)
        return String(String.UnicodeScalarView(scalars))
    }
}

extension String {
    /// The characters at the end that fit.
    fileprivate func suffix(while fits: (Character) -> Bool) -> Substring {
        self[(lastIndex { !fits($0) }.map(index(after:)) ?? startIndex)...]
    }
}

/// What a word may become, for whoever may look for it.
struct CompletionRequest: Sendable, Hashable {
    /// Where the word is.
    enum Place: Sendable, Hashable {
        case composer(ViewID)
        /// In the form that is open.
        case form
    }

    let place: Place
    let word: OpenWord
    /// The action or the screen, its parameter that gets the word, and the arguments that it has already.
    let target: ActionForm.Target
    let parameter: String
    let given: JSONObject
    /// Whether files are not looked for, as for the list of what a value may be.
    var isOnlyForWords = false
}
