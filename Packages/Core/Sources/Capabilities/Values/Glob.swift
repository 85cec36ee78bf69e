/// Patterns as shells have them: `*` for anything but `/`, `**` for anything, `?` for one character but `/`, and `\` for
/// the next character as it is.
public enum Glob {
    private enum Piece<Element: Hashable>: Equatable {
        case one(Element)
        case any
        case run
        case everything
    }

    public static func matches(_ pattern: String, _ text: String) -> Bool {
        matches(Array(pattern.unicodeScalars), Array(text.unicodeScalars), scalars)
    }

    /// The same without a difference between capital and small letters, nor between two ways to write an accent, as some
    /// file systems see names.
    public static func matchesFolded(_ pattern: String, _ text: String) -> Bool {
        matches(Array(pattern.lowercased()), Array(text.lowercased()), characters)
    }

    /// The same where a slash is nothing special, so that a star stands for anything.
    public static func matchesWide(_ pattern: String, _ text: String) -> Bool {
        var wide = ""
        var isEscaped = false
        for character in pattern {
            wide += character == "*" && !isEscaped ? "**" : String(character)
            isEscaped = character == "\\" && !isEscaped
        }
        return matches(wide, text)
    }

    /// A pattern that only the text itself fits.
    public static func escape(_ text: String) -> String {
        var pattern = ""
        for scalar in text.unicodeScalars {
            if "*?\\".unicodeScalars.contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        return pattern
    }

    /// The only text that fits a pattern; nil where others do, too.
    public static func literal(_ pattern: String) -> String? {
        var text = ""
        for piece in pieces(of: Array(pattern.unicodeScalars), scalars) {
            guard case .one(let scalar) = piece else { return nil }
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    /// How much of the text a pattern says: exact ones say most, and of others those with more characters.
    public static func precision(of pattern: String) -> Int {
        let pieces = pieces(of: Array(pattern.unicodeScalars), scalars)
        let exact = pieces.count { if case .one = $0 { true } else { false } }
        return exact == pieces.count ? 1 << 20 : exact
    }

    /// What is special in a pattern.
    private struct Signs<Element: Sendable>: Sendable {
        let star, question, escape, slash: Element
    }

    private static let scalars = Signs<Unicode.Scalar>(star: "*", question: "?", escape: "\\", slash: "/")
    private static let characters = Signs<Character>(star: "*", question: "?", escape: "\\", slash: "/")

    /// Walks along the text once with all places in the pattern that are possible, so that no pattern is slow.
    private static func matches<Element: Hashable & Sendable>(
        _ pattern: [Element], _ text: [Element], _ signs: Signs<Element>
    ) -> Bool {
        let pieces = pieces(of: pattern, signs)
        var places = reachable(from: [0], pieces)
        for element in text {
            var next: Set<Int> = []
            for place in places where place < pieces.count {
                switch pieces[place] {
                case .one(let wanted): if wanted == element { next.insert(place + 1) }
                case .any: if element != signs.slash { next.insert(place + 1) }
                case .run: if element != signs.slash { next.insert(place) }
                case .everything: next.insert(place)
                }
            }
            if next.isEmpty { return false }
            places = reachable(from: next, pieces)
        }
        return places.contains(pieces.count)
    }

    private static func pieces<Element: Hashable & Sendable>(of pattern: [Element], _ signs: Signs<Element>) -> [Piece<
        Element
    >] {
        var pieces: [Piece<Element>] = []
        var isEscaped = false
        for element in pattern {
            if isEscaped {
                pieces.append(.one(element))
                isEscaped = false
            } else if element == signs.escape {
                isEscaped = true
            } else if element == signs.star {
                if pieces.last == .run {
                    pieces[pieces.count - 1] = .everything
                } else if pieces.last != .everything {
                    pieces.append(.run)
                }
            } else {
                pieces.append(element == signs.question ? .any : .one(element))
            }
        }
        if isEscaped { pieces.append(.one(signs.escape)) }
        return pieces
    }

    /// The places that need no further character: stars may stand for nothing.
    private static func reachable<Element>(from places: Set<Int>, _ pieces: [Piece<Element>]) -> Set<Int> {
        var reached = places
        for start in places {
            var place = start
            while place < pieces.count, pieces[place] == .run || pieces[place] == .everything {
                place += 1
                reached.insert(place)
            }
        }
        return reached
    }
}
