/// Patterns of host names and other words, in which `*` stands for any bytes and `?` for one, as in `match.c` of OpenSSH.
enum HostPattern {
    private static let star = UInt8(ascii: "*")
    private static let question = UInt8(ascii: "?")

    /// Whether a text is what a pattern means.
    static func matches(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        var (place, next) = (text.startIndex, pattern.startIndex)
        // Where to continue if what follows the last star does not match here. That is never exponential.
        var retry: (pattern: Int, place: Int)?
        while place < text.endIndex {
            if next < pattern.endIndex, pattern[next] == star {
                next += 1
                retry = (next, place)
            } else if next < pattern.endIndex, pattern[next] == question || pattern[next] == text[place] {
                (place, next) = (place + 1, next + 1)
            } else if let last = retry {
                (place, next) = (last.place + 1, last.pattern)
                retry = (next, place)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == star }
    }

    /// Whether a text is what a pattern means.
    static func matches(_ text: String, _ pattern: String) -> Bool {
        matches(Array(text.utf8)[...], Array(pattern.utf8)[...])
    }

    /// What a list of patterns says about a text.
    enum Verdict {
        /// A pattern after `!` matches, which decides.
        case negated
        case matched
        case none
    }

    /// Patterns of this length and longer end the list, as in OpenSSH.
    private static let tooLong = 1_023

    /// Applies patterns between commas.
    static func verdict(on text: ArraySlice<UInt8>, of list: ArraySlice<UInt8>, lowercasing: Bool = false) -> Verdict {
        var verdict = Verdict.none
        var start = list.startIndex
        while start < list.endIndex {
            let isNegated = list[start] == UInt8(ascii: "!")
            if isNegated { start += 1 }
            let end = list[start...].firstIndex(of: UInt8(ascii: ",")) ?? list.endIndex
            guard end - start < tooLong else { return .none }
            let pattern = lowercasing ? ASCII.lowercased(list[start..<end]) : list[start..<end]
            if matches(text, pattern) {
                if isNegated { return .negated }
                verdict = .matched
            }
            start = end + 1
        }
        return verdict
    }

    /// Whether a list of patterns matches a text.
    static func list(_ list: String, matches text: String, lowercasing: Bool = false) -> Bool {
        verdict(on: Array(text.utf8)[...], of: Array(list.utf8)[...], lowercasing: lowercasing) == .matched
    }
}

/// Letters as C sees them without a locale.
enum ASCII {
    /// With small letters.
    static func lowercased(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        guard bytes.contains(where: capitals.contains) else { return bytes }
        return bytes.map { capitals.contains($0) ? $0 | 0x20 : $0 }[...]
    }

    /// With small letters.
    static func lowercased(_ text: String) -> String {
        String(decoding: lowercased(Array(text.utf8)[...]), as: UTF8.self)
    }

    /// Spaces of C.
    static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}
