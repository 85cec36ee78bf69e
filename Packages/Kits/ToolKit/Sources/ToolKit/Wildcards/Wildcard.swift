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
