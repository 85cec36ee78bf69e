/// Finds the name that was most likely meant.
public enum Suggestion {
    /// The candidate nearest to the word, if one is near enough to be worth offering.
    public static func nearest<Names: Sequence>(to word: String, among candidates: Names) -> String?
    where Names.Element == String {
        // Long words are not compared: they can be megabytes of input and are not typing mistakes.
        guard word.utf8.count <= 256 else { return nil }
        let wanted = Array(word.lowercased().prefix(64))
        let limit = wanted.count <= 3 ? 1 : wanted.count <= 6 ? 2 : 3
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = Self.distance(wanted, Array(candidate.lowercased().prefix(64)), limit: limit)
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        if let best, best.distance <= 1 { return best.name }
        // A unique completion is more likely than two typing mistakes.
        let completions = candidates.filter { word.count >= 3 && $0.lowercased().hasPrefix(word.lowercased()) }
        return completions.count == 1 ? completions.first : best?.name
    }

    /// The candidate that was almost certainly meant: at most two typing mistakes away, or one in a word of up to three
    /// letters.
    public static func slip<Names: Sequence>(of word: String, among candidates: Names) -> String?
    where Names.Element == String {
        let wanted = Array(word.lowercased().prefix(64))
        let limit = wanted.count <= 3 ? 1 : 2
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = Self.distance(wanted, Array(candidate.lowercased().prefix(64)), limit: limit)
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// `; did you mean 'model'?`, or nothing.
    public static func text<Names: Sequence>(for word: String, among candidates: Names) -> String
    where Names.Element == String {
        nearest(to: word, among: candidates).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// Edits (insert, delete, replace, swap of neighbours) between two words; anything above the limit is limit + 1.
    private static func distance(_ left: [Character], _ right: [Character], limit: Int) -> Int {
        guard abs(left.count - right.count) <= limit else { return limit + 1 }
        if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for row in 1...left.count {
            var current = [row]
            for column in 1...right.count {
                let same = left[row - 1] == right[column - 1]
                var cost = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (same ? 0 : 1))
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    cost = min(cost, beforePrevious[column - 2] + 1)
                }
                current.append(cost)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[right.count]
    }
}
