/// Texts of which a line must contain one to match an expression. Searching for them first is many times as fast.
///
/// If there is no text, it may be a run of letters or digits: `\w{30}`, `\d{4}-\d{2}`. They are derived from the text
/// of the expression alone: the longest of a sequence, and all alternatives of a choice. If that would need more
/// understanding, as with a flag in the middle, there are none.
struct RequiredText {
    /// Shorter texts occur in too many lines to help.
    static let shortest = 3
    /// Each text is searched separately.
    private static let largestCount = 8
    private static let deepest = 20

    /// Empty if none are known.
    private(set) var texts: [[UInt8]] = []
    /// The required run, if there are no texts.
    private(set) var run: ByteRun?
    private let pattern: [UInt8]
    private let ignoresCase: Bool
    private var place = 0
    private var depth = 0
    private var isUnderstood = true
    /// Whether there is a choice outside of all groups.
    private var hasChoice = false

    init(of pattern: [UInt8], ignoringCase ignoresCase: Bool = false) {
        self.pattern = pattern
        self.ignoresCase = ignoresCase
        let found = choice()
        // An unmatched bracket.
        guard isUnderstood, place == pattern.count else {
            run = nil
            return
        }
        if found.allSatisfy({ $0.count >= Self.shortest }) { texts = found }
        if !texts.isEmpty || hasChoice { run = nil }
    }

    /// The texts that a choice requires, up to its closing bracket or the end.
    private mutating func choice() -> [[UInt8]] {
        var all: [[UInt8]] = []
        var isKnown = true
        while true {
            let texts = sequence()
            if texts.isEmpty { isKnown = false }
            all += texts
            guard isUnderstood, take("|") else { break }
            if depth == 0 { hasChoice = true }
        }
        return isKnown && all.count <= Self.largestCount ? all : []
    }

    /// The best texts that a sequence requires.
    private mutating func sequence() -> [[UInt8]] {
        var best = Best()
        while isUnderstood, let byte = next, byte != UInt8(ascii: "|"), byte != UInt8(ascii: ")") {
            let start = place
            place += 1
            switch byte {
            case UInt8(ascii: "("):
                best.endRun()
                best.consider(group())
            case UInt8(ascii: "["):
                best.endRun()
                skipSet()
                considerRun(of: start..<place)
            case UInt8(ascii: "*"), UInt8(ascii: "?"):
                // The thing before it is optional.
                best.dropCharacter()
                best.endRun()
            case UInt8(ascii: "{"):
                if least() == 0 { best.dropCharacter() }
                best.endRun()
                // A repetition of a repetition.
                if next == UInt8(ascii: "*") || next == UInt8(ascii: "{") { isUnderstood = false }
            case UInt8(ascii: "+"), UInt8(ascii: "^"), UInt8(ascii: "$"), UInt8(ascii: "."), UInt8(ascii: "}"):
                best.endRun()
            case Byte.backslash:
                guard let escaped = next else {
                    isUnderstood = false
                    break
                }
                place += 1
                if isWord(escaped) {
                    best.endRun()
                    // Escapes for classes and anchors. The others may take what follows as an argument.
                    isUnderstood = "dDwWsSbBhHAzZRNKt".utf8.contains(escaped)
                    considerRun(of: start..<place)
                } else {
                    best.run.append(escaped)
                }
            default:
                // Letters beyond ASCII have upper-case forms with other bytes.
                if ignoresCase, byte >= 0x80 { best.endRun() } else { best.run.append(byte) }
            }
        }
        best.endRun()
        return best.texts
    }

    /// The longest texts, and the fewest.
    private struct Best {
        private(set) var texts: [[UInt8]] = []
        var run: [UInt8] = []

        mutating func consider(_ others: [[UInt8]]) {
            if worth(others) > worth(texts) { texts = others }
        }

        mutating func endRun() {
            if !run.isEmpty { consider([run]) }
            run = []
        }

        mutating func dropCharacter() {
            while let last = run.popLast(), last & 0xC0 == 0x80 {}
        }

        private func worth(_ texts: [[UInt8]]) -> Int {
            texts.map(\.count).min().map { 2 * min($0, 8) - texts.count } ?? Int.min
        }
    }

    private var next: UInt8? { place < pattern.count ? pattern[place] : nil }

    private mutating func take(_ text: String) -> Bool {
        guard pattern[place...].starts(with: text.utf8) else { return false }
        place += text.utf8.count
        return true
    }

    private func isWord(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte >= 0x80
    }

    /// Considers a set with a repetition count as the required run.
    private mutating func considerRun(of part: Range<Int>) {
        guard isUnderstood, depth == 0, next == UInt8(ascii: "{") else { return }
        let start = place
        place += 1
        let count = least()
        place = start
        guard let run = ByteRun(of: pattern[part], count: count, ignoringCase: ignoresCase) else { return }
        if run.count > self.run?.count ?? 0 { self.run = run }
    }

    /// The minimum count of a repetition, past `2,3}`. Anything else is not a repetition but text.
    private mutating func least() -> Int {
        let digits = pattern[place...].prefix { (0x30...0x39).contains($0) }
        let rest = pattern[(place + digits.count)...].drop { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ",") }
        guard rest.first == UInt8(ascii: "}"), !digits.isEmpty, digits.count < 6 else { return 0 }
        place = rest.startIndex + 1
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The texts that a group requires, after its opening bracket.
    private mutating func group() -> [[UInt8]] {
        var isThere = true
        if take("?") {
            if take("=") || take("!") || take("<=") || take("<!") {
                isThere = false
            } else if take("<") || take("P<") {
                while let byte = next, byte != UInt8(ascii: ">") {
                    place += byte == UInt8(ascii: ")") ? pattern.count : 1
                }
                isUnderstood = take(">")
            } else if !take(":") {
                // A flag, a comment, a condition.
                isUnderstood = false
            }
        } else if next == UInt8(ascii: "*") {
            isUnderstood = false
        }
        depth += 1
        defer { depth -= 1 }
        guard isUnderstood, depth < Self.deepest else {
            isUnderstood = false
            return []
        }
        let texts = choice()
        guard isUnderstood, take(")") else {
            isUnderstood = false
            return []
        }
        if take("*") || take("?") { isThere = false }
        if next == UInt8(ascii: "{") {
            place += 1
            if least() == 0 { isThere = false }
        }
        return isThere ? texts : []
    }

    /// Skips to the end of a set. A set with classes is not understood.
    private mutating func skipSet() {
        _ = take("^")
        _ = take("]")
        while let byte = next {
            place += 1
            switch byte {
            case Byte.backslash:
                guard let escaped = next, escaped != UInt8(ascii: "Q") else {
                    isUnderstood = false
                    return
                }
                place += 1
            case UInt8(ascii: "["):
                isUnderstood = false
                return
            case UInt8(ascii: "]"): return
            default: break
            }
        }
        isUnderstood = false
    }
}
