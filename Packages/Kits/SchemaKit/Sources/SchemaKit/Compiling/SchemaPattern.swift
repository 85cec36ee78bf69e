import PatternKit

/// The value of `pattern`, or a name of `patternProperties`: an expression of ECMA-262, matched by PCRE2.
///
/// Its cost is bounded without a clock. A search may begin at each place of a text, and read all of it from each. So the
/// square of the length counts, unless the expression is anchored.
struct SchemaPattern: Sendable {
    /// The length of an expression in bytes.
    static let longest = 4096
    /// What all compiled expressions of a schema may take together, in bytes.
    static let largestTotal = 1 << 20

    /// As it is written in the schema.
    let text: String
    let pattern: Pattern

    enum Outcome {
        case matches
        case differs
        /// It would take too many steps.
        case unknown
    }

    /// How often a reasonable expression goes back, over all places where a match may begin.
    private static let usualEffort = 4_000
    private static let largestEffort = 40_000
    private static let costOfLargestEffort = 20_000
    /// A text that would cost more is not matched.
    private static let largestCost = 250_000

    /// Whether it occurs in a text. The cost grows with the effort.
    func occurs(in text: String, _ matcher: PatternMatcher, cost: inout Int) -> Outcome {
        let count = text.utf8.count
        let length = 16 + (pattern.isAnchored ? count >> 4 : count + (count >> 6) * (count >> 6))
        guard length <= Self.largestCost else { return .unknown }
        cost += length
        let places = pattern.isAnchored ? 1 : count + 1
        switch matcher.firstMatch(of: pattern, in: text, limit: UInt32(max(16, Self.usualEffort / places))) {
        case .found: return .matches
        case .none: return .differs
        case .gaveUp: break
        }
        cost += Self.costOfLargestEffort
        switch matcher.firstMatch(of: pattern, in: text, limit: UInt32(max(64, Self.largestEffort / places))) {
        case .found: return .matches
        case .none: return .differs
        case .gaveUp: return .unknown
        }
    }
}
