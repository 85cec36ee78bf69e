/// Reads a pattern into tokens, so that it is understood once and not for each path.
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

    /// False when the pattern can match nothing.
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

    /// Two stars and more are special only when they are all there is between two slashes.
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
            // A bracket that comes first is one of the members.
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

    /// Where the bracket of `[:name:]` closes, if it does.
    private func classEnd() -> Int? {
        guard let end = pattern[(place + 2)...].firstIndex(of: UInt8(ascii: "]")) else { return nil }
        return end > place + 2 && pattern[end - 1] == UInt8(ascii: ":") ? end : nil
    }

    /// One member of a set, perhaps escaped.
    private mutating func member() -> UInt32? {
        if peek() == Byte.backslash { place += 1 }
        guard place < pattern.count else { return nil }
        let (value, width) = Wildcard.scalar(in: pattern, at: place, unit)
        place += width
        return value
    }
}
