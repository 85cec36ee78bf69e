/// A file or folder that somebody names, perhaps with lines: `Sources/main.swift:12-20`.
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
