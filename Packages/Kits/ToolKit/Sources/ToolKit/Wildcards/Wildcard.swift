/// A pattern for paths, such as `src/**/*.swift`: `*` and `?` stay within a name, and `**` as a whole part matches any
/// folders.
///
/// The rules are those of gitignore, including its handling of bytes. In patterns of users, `?` and `[ä]` match a
/// character.
struct Wildcard: Sendable {
    /// What `?` and a set match.
    enum Unit: Sendable { case byte, character }

    enum Token: Sendable, Equatable {
        case byte(UInt8)
        case one
        /// An index into `sets`.
        case set(Int)
        case star
        /// `**`; if a slash follows, both together may also match nothing.
        case deep(mayVanish: Bool)
    }

    /// A limit, because each star can multiply the work.
    static let largestStarCount = 32

    private let unit: Unit
    private(set) var tokens: [Token] = []
    private(set) var sets: [ScalarSet] = []
    /// The bytes after the last wildcard. Comparing them first rules out most paths at once.
    private(set) var tail: [UInt8] = []

    /// Nil for a pattern that can match nothing, such as one with an unclosed bracket.
    init?(_ pattern: some Collection<UInt8>, unit: Unit) {
        self.unit = unit
        var parser = WildcardParser(Array(pattern), unit)
        guard parser.parse() else { return nil }
        tokens = parser.tokens
        sets = parser.sets
        guard parser.starCount <= Self.largestStarCount else { return nil }
        for token in tokens.reversed() {
            guard case .byte(let byte) = token else {
                // The slash is optional together with the stars.
                if token == .deep(mayVanish: true) { tail.removeLast() }
                break
            }
            tail.append(byte)
        }
        tail.reverse()
    }
}

extension Wildcard {
    /// Whether the whole path from an index on matches.
    func matches(_ path: [UInt8], from start: Int = 0) -> Bool {
        guard path.count - start >= tail.count else { return false }
        for index in 0..<tail.count where tail[tail.count - 1 - index] != path[path.count - 1 - index] { return false }
        return match(0, path, start) == .match
    }

    /// The result of a comparison. The last two limit the work: if one star found no match, the stars before it need
    /// not try again.
    private enum Outcome {
        case match, mismatch
        /// The path is too short, wherever the earlier stars end.
        case exhausted
        /// A slash is in the way, which only an earlier `**` can match.
        case blocked
    }

    private func match(_ token: Int, _ path: [UInt8], _ start: Int) -> Outcome {
        var (token, place) = (token, start)
        while token < tokens.count {
            switch tokens[token] {
            case .byte(let byte):
                guard place < path.count else { return .exhausted }
                guard path[place] == byte else { return .mismatch }
                place += 1
            case .one:
                guard place < path.count else { return .exhausted }
                guard path[place] != Byte.slash else { return .mismatch }
                place += Self.scalar(in: path, at: place, unit).width
            case .set(let index):
                guard place < path.count else { return .exhausted }
                let (value, width) = Self.scalar(in: path, at: place, unit)
                guard path[place] != Byte.slash, sets[index].contains(value) else { return .mismatch }
                place += width
            case .star:
                if token + 1 < tokens.count, tokens[token + 1] == .byte(Byte.slash) {
                    // A single star ends at the next slash, so there is only one way.
                    while place < path.count, path[place] != Byte.slash { place += 1 }
                    guard place < path.count else { return .mismatch }
                } else {
                    return matchStar(token, path, place, passesSlashes: false)
                }
            case .deep(let mayVanish):
                if mayVanish, match(token + 2, path, place) == .match { return .match }
                return matchStar(token, path, place, passesSlashes: true)
            }
            token += 1
        }
        return place == path.count ? .match : .mismatch
    }

    private func matchStar(_ token: Int, _ path: [UInt8], _ start: Int, passesSlashes: Bool) -> Outcome {
        var place = start
        guard token + 1 < tokens.count else {
            return passesSlashes || !path[place...].contains(Byte.slash) ? .match : .mismatch
        }
        while place < path.count {
            switch match(token + 1, path, place) {
            case .mismatch where !passesSlashes && path[place] == Byte.slash: return .blocked
            case .mismatch: break
            case .blocked where passesSlashes: break
            case let outcome: return outcome
            }
            place += Self.scalar(in: path, at: place, unit).width
        }
        return .exhausted
    }

    /// The character at an index, or the byte if it is not part of a character.
    static func scalar(in bytes: [UInt8], at place: Int, _ unit: Unit) -> (value: UInt32, width: Int) {
        let first = bytes[place]
        let width =
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        guard unit == .character, width > 1, place + width <= bytes.count else { return (UInt32(first), 1) }
        var value = UInt32(first) & (0x7F >> UInt32(width))
        for byte in bytes[(place + 1)..<(place + width)] {
            guard byte & 0xC0 == 0x80 else { return (UInt32(first), 1) }
            value = value << 6 | UInt32(byte & 0x3F)
        }
        return (value, width)
    }
}

/// Parses a pattern into tokens once, and not for each path.
struct WildcardParser {
    private let pattern: [UInt8]
    private let unit: Wildcard.Unit
    private var place = 0
    private(set) var tokens: [Wildcard.Token] = []
    private(set) var sets: [ScalarSet] = []
    private(set) var starCount = 0

    init(_ pattern: [UInt8], _ unit: Wildcard.Unit) {
        self.pattern = pattern
        self.unit = unit
    }

    /// False if the pattern can match nothing.
    mutating func parse() -> Bool {
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "?"):
                place += 1
                tokens.append(.one)
            case UInt8(ascii: "*"):
                parseStars()
            case UInt8(ascii: "["):
                guard parseSet() else { return false }
            case Byte.backslash:
                guard let escaped = peek(1) else { return false }
                place += 2
                tokens.append(.byte(escaped))
            default:
                place += 1
                tokens.append(.byte(byte))
            }
        }
        return true
    }

    private func peek(_ ahead: Int = 0) -> UInt8? {
        place + ahead < pattern.count ? pattern[place + ahead] : nil
    }

    /// Several stars are special only if they are everything between two slashes.
    private mutating func parseStars() {
        let start = place
        while peek() == UInt8(ascii: "*") { place += 1 }
        starCount += 1
        let beginsPart = start == 0 || pattern[start - 1] == Byte.slash
        let next = peek()
        let endsPart = next == nil || next == Byte.slash || next == Byte.backslash && peek(1) == Byte.slash
        if place - start > 1, beginsPart, endsPart {
            tokens.append(.deep(mayVanish: next == Byte.slash))
        } else {
            tokens.append(.star)
        }
    }

    private mutating func parseSet() -> Bool {
        var set = ScalarSet()
        place += 1
        if peek() == UInt8(ascii: "!") || peek() == UInt8(ascii: "^") {
            set.isNegated = true
            place += 1
        }
        var isFirst = true
        var lower: UInt32?
        while true {
            guard let byte = peek() else { return false }
            // A bracket that comes first is a member.
            if byte == UInt8(ascii: "]"), !isFirst { break }
            isFirst = false
            if byte == UInt8(ascii: "-"), let from = lower, let next = peek(1), next != UInt8(ascii: "]") {
                place += 1
                guard let to = member() else { return false }
                if from <= to { set.ranges.append(from...to) }
                lower = nil
            } else if byte == UInt8(ascii: "["), peek(1) == UInt8(ascii: ":"), let end = classEnd() {
                guard let ranges = ScalarSet.named(pattern[(place + 2)..<(end - 1)]) else { return false }
                set.ranges += ranges
                place = end + 1
                lower = nil
            } else {
                guard let value = member() else { return false }
                set.ranges.append(value...value)
                lower = value
            }
        }
        place += 1
        tokens.append(.set(sets.count))
        sets.append(set)
        return true
    }

    /// The end of the `[:name:]`, if it is closed.
    private func classEnd() -> Int? {
        guard let end = pattern[(place + 2)...].firstIndex(of: UInt8(ascii: "]")) else { return nil }
        return end > place + 2 && pattern[end - 1] == UInt8(ascii: ":") ? end : nil
    }

    /// One member of a set, possibly escaped.
    private mutating func member() -> UInt32? {
        if peek() == Byte.backslash { place += 1 }
        guard place < pattern.count else { return nil }
        let (value, width) = Wildcard.scalar(in: pattern, at: place, unit)
        place += width
        return value
    }
}

/// The members between `[` and `]`.
struct ScalarSet: Sendable {
    var isNegated = false
    var ranges: [ClosedRange<UInt32>] = []

    func contains(_ value: UInt32) -> Bool {
        ranges.contains { $0.contains(value) } != isNegated
    }

    /// The named classes, in ASCII only. As in git, vertical tab and form feed are not spaces.
    static func named(_ name: some Collection<UInt8>) -> [ClosedRange<UInt32>]? {
        switch String(decoding: name, as: UTF8.self) {
        case "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A]
        case "alpha": [0x41...0x5A, 0x61...0x7A]
        case "blank": [0x09...0x09, 0x20...0x20]
        case "cntrl": [0x00...0x1F, 0x7F...0x7F]
        case "digit": [0x30...0x39]
        case "graph": [0x21...0x7E]
        case "lower": [0x61...0x7A]
        case "print": [0x20...0x7E]
        case "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]
        case "space": [0x09...0x0A, 0x0D...0x0D, 0x20...0x20]
        case "upper": [0x41...0x5A]
        case "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66]
        default: nil
        }
    }
}
