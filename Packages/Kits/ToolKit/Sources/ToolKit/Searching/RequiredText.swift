/// Texts of which every line must have one for an expression to fit: to look for them first is many times as fast.
///
/// Of each choice at the outermost level it is the longest. They are found from the expression's text alone, and none
/// where that would need understanding, such as with a flag that changes what follows.
struct RequiredText {
    /// Shorter ones stand in too many lines to spare anything.
    private static let shortest = 3
    /// Each is looked for by itself.
    private static let largestCount = 8

    /// Empty where nothing is known.
    private(set) var texts: [[UInt8]] = []
    private var longest: [UInt8] = []
    private var run: [UInt8] = []
    private let pattern: [UInt8]
    private var place = 0

    init(of pattern: [UInt8]) {
        self.pattern = pattern
        while place < pattern.count {
            guard step() else {
                texts = []
                return
            }
        }
        if !endChoice() { texts = [] }
    }

    private mutating func endChoice() -> Bool {
        endRun()
        guard longest.count >= Self.shortest, texts.count < Self.largestCount else { return false }
        texts.append(longest)
        longest = []
        return true
    }

    /// Reads one thing; false when nothing can be said.
    private mutating func step() -> Bool {
        let byte = pattern[place]
        place += 1
        switch byte {
        case UInt8(ascii: "|"): return endChoice()
        case UInt8(ascii: ")"): return false
        case UInt8(ascii: "("):
            endRun()
            return skipGroup()
        case UInt8(ascii: "["):
            endRun()
            return skipSet()
        case UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "{"):
            // What stands before it need not be there.
            dropCharacter()
            endRun()
            if byte == UInt8(ascii: "{") { skipCount() }
        case UInt8(ascii: "+"), UInt8(ascii: "^"), UInt8(ascii: "$"), UInt8(ascii: "."), UInt8(ascii: "}"): endRun()
        case Byte.backslash:
            guard place < pattern.count else { return false }
            let escaped = pattern[place]
            place += 1
            if isWord(escaped) {
                endRun()
                // Those without a value of their own; what follows others belongs to them.
                return "dDwWsSbBhHAzZRNKt".utf8.contains(escaped)
            }
            run.append(escaped)
        default: run.append(byte)
        }
        return true
    }

    private mutating func endRun() {
        if run.count > longest.count { longest = run }
        run = []
    }

    private mutating func dropCharacter() {
        while let last = run.popLast(), last & 0xC0 == 0x80 {}
    }

    /// Past the numbers of a repetition; in braces without numbers there is text.
    private mutating func skipCount() {
        while place < pattern.count, "0123456789, ".utf8.contains(pattern[place]) { place += 1 }
    }

    private func isWord(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte >= 0x80
    }

    /// Past the bracket that closes. Only groups that are plain, or look around, leave what follows as it is.
    private mutating func skipGroup() -> Bool {
        var depth = 1
        guard opensPlainly else { return false }
        while place < pattern.count {
            let byte = pattern[place]
            place += 1
            switch byte {
            case Byte.backslash:
                guard place < pattern.count, pattern[place] != UInt8(ascii: "Q") else { return false }
                place += 1
            case UInt8(ascii: "["): if !skipSet() { return false }
            case UInt8(ascii: "("):
                guard opensPlainly else { return false }
                depth += 1
            case UInt8(ascii: ")"):
                depth -= 1
                if depth == 0 { return true }
            default: break
            }
        }
        return false
    }

    /// Whether a group begins here that sets no flag and is no comment or command.
    private var opensPlainly: Bool {
        guard place < pattern.count, pattern[place] != UInt8(ascii: "*") else { return false }
        guard pattern[place] == UInt8(ascii: "?") else { return true }
        return place + 1 < pattern.count && ":=!<".utf8.contains(pattern[place + 1])
    }

    /// Past the bracket that closes a set; with classes in it, it takes understanding.
    private mutating func skipSet() -> Bool {
        if place < pattern.count, pattern[place] == UInt8(ascii: "^") { place += 1 }
        if place < pattern.count, pattern[place] == UInt8(ascii: "]") { place += 1 }
        while place < pattern.count {
            let byte = pattern[place]
            place += 1
            switch byte {
            case Byte.backslash:
                guard place < pattern.count, pattern[place] != UInt8(ascii: "Q") else { return false }
                place += 1
            case UInt8(ascii: "["): return false
            case UInt8(ascii: "]"): return true
            default: break
            }
        }
        return false
    }
}
