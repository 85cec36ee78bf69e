/// A file that a text names: `@notes.md`, or `@"a b.txt"` for a path with spaces. The mark begins a word.
///
/// Whether there is such a file is another question: `@alice` is written the same way.
public struct FileMention: Sendable, Hashable {
    private static let (mark, quote): (Character, Character) = ("@", "\"")

    /// The paths that may be meant, the likeliest first. A full stop after a path may belong to the sentence.
    public let paths: [String]

    private init(_ path: Substring, isQuoted: Bool) {
        let bare = isQuoted ? path : path.trimmingSuffix { ".,;:!?)]}>'\"".contains($0) }
        paths = ([path, bare].filter { !$0.isEmpty }).map(String.init).withoutRepeats
    }

    /// The words of a text that may name a file.
    public static func all(in text: String) -> [FileMention] {
        var found: [FileMention] = []
        var rest = text[...]
        var isAtStart = true
        while let character = rest.first {
            if isAtStart, let (path, isQuoted, end) = word(in: rest), end != nil || !isQuoted {
                found.append(FileMention(path, isQuoted: isQuoted))
                rest = end ?? ""
            } else {
                rest = rest.dropFirst()
            }
            isAtStart = character.isWhitespace
        }
        return found.filter { !$0.paths.isEmpty }
    }

    /// The word at the start of a text: its path, and what comes after it, which is nil if a quotation is not closed.
    private static func word(in text: Substring) -> (path: Substring, isQuoted: Bool, rest: Substring?)? {
        guard text.first == mark else { return nil }
        let word = text.dropFirst()
        guard word.first == quote else {
            let path = word.prefix { !$0.isWhitespace }
            return (path, false, word[path.endIndex...])
        }
        let quoted = word.dropFirst()
        let path = quoted.prefix { $0 != quote && !$0.isNewline }
        let end = quoted[path.endIndex...]
        return (path, true, end.first == quote ? end.dropFirst() : nil)
    }

    /// The mention that is being written at the end of a text: its path so far, and its characters with the mark.
    public static func unfinished(atEndOf text: String) -> (path: String, isQuoted: Bool, count: Int)? {
        let line = text[(text.lastIndex(where: \.isNewline).map(text.index(after:)) ?? text.startIndex)...]
        var rest = line
        var isAtStart = true
        while let character = rest.first {
            if isAtStart, let (path, isQuoted, end) = word(in: rest) {
                guard let after = end, isQuoted || !after.isEmpty else { return (String(path), isQuoted, rest.count) }
                rest = after
            } else {
                rest = rest.dropFirst()
            }
            isAtStart = character.isWhitespace
        }
        return nil
    }

    /// A path as it is written in a text.
    ///
    /// - Parameter isOpen: whether more of the path follows.
    public static func written(_ path: String, isQuoted: Bool = false, isOpen: Bool) -> String {
        guard isQuoted || path.contains(where: \.isWhitespace) else { return "\(mark)\(path)" }
        return "\(mark)\(quote)\(path)\(isOpen ? "" : String(quote))"
    }

    /// Whether a path can be written in a text, so that it is read as the same path.
    public static func canWrite(_ path: String) -> Bool {
        let needsQuotes = path.contains(where: \.isWhitespace)
        return !path.contains(where: \.isNewline) && path.first != quote && !(needsQuotes && path.contains(quote))
    }
}

extension Substring {
    /// Without the characters at the end that fit.
    fileprivate func trimmingSuffix(while fits: (Character) -> Bool) -> Substring {
        self[..<(lastIndex { !fits($0) }.map(index(after:)) ?? startIndex)]
    }
}

extension [String] {
    /// The first of each.
    var withoutRepeats: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
