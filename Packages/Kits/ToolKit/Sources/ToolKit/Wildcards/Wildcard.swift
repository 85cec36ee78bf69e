/// A pattern for paths, such as `src/**/*.swift`: `*` and `?` stay within a name, `**` as a whole part passes folders.
///
/// The rules are those of gitignore, down to what a single byte is; in patterns that people write, `?` and `[ä]` stand
/// for a character.
struct Wildcard: Sendable {
    /// What `?` and a set take.
    enum Unit: Sendable { case byte, character }

    enum Token: Sendable, Equatable {
        case byte(UInt8)
        case one
        /// An index into `sets`.
        case set(Int)
        case star
        /// `**`; followed by a slash it may also stand for nothing, together with the slash.
        case deep(mayVanish: Bool)
    }

    /// Each star can multiply the work; nobody needs this many.
    static let largestStarCount = 32

    let unit: Unit
    private(set) var tokens: [Token] = []
    private(set) var sets: [ScalarSet] = []
    /// The bytes after the last wildcard: most paths are told apart by them at once.
    private(set) var tail: [UInt8] = []

    /// Nil for a pattern that can match nothing, such as one with an open bracket.
    init?(_ pattern: some Collection<UInt8>, unit: Unit) {
        self.unit = unit
        var parser = WildcardParser(Array(pattern), unit)
        guard parser.parse() else { return nil }
        tokens = parser.tokens
        sets = parser.sets
        guard parser.starCount <= Self.largestStarCount else { return nil }
        for token in tokens.reversed() {
            guard case .byte(let byte) = token else {
                // The slash goes with the stars where these stand for nothing.
                if token == .deep(mayVanish: true) { tail.removeLast() }
                break
            }
            tail.append(byte)
        }
        tail.reverse()
    }
}

extension Wildcard {
    /// Whether the whole path from an index on fits.
    func matches(_ path: [UInt8], from start: Int = 0) -> Bool {
        guard path.count - start >= tail.count else { return false }
        for index in 0..<tail.count where tail[tail.count - 1 - index] != path[path.count - 1 - index] { return false }
        return match(0, path, start) == .match
    }

    /// How a comparison ended. The last two keep the work small: what one star found to be hopeless, the stars before
    /// it need not try again.
    private enum Outcome {
        case match, mismatch
        /// The path is too short, wherever the stars before this end.
        case exhausted
        /// A slash is in the way, which only a `**` before this can pass.
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
                    // What a single star takes ends at the next slash: there is only one way.
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

    /// The character at an index, or the byte where it is none.
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
