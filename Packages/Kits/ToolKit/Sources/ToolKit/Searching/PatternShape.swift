/// What can be said about an expression from its text alone.
///
/// To look for a candidate in many lines at once is several times as fast as to ask for each line. It may miss a line
/// only where an expression can refuse a line for what stands in another one: by looking around, by never giving back
/// what it took, or by asking for the very beginning or end. All these are recognised generously.
struct PatternShape {
    private(set) var canSpanLines = true
    private(set) var hasLineBreak = false

    init(_ pattern: [UInt8], isLiteral: Bool) {
        hasLineBreak = pattern.contains(Byte.newline)
        if isLiteral { return }
        var last: UInt8 = 0
        var isInSet = false
        var place = 0
        while place < pattern.count {
            let byte = pattern[place]
            let next = place + 1 < pattern.count ? pattern[place + 1] : 0
            switch byte {
            case Byte.backslash:
                // In a set it is most often excluded, which changes nothing.
                if next == UInt8(ascii: "n"), !isInSet { hasLineBreak = true }
                if "AzZGKXRQEkgrxo0123456789".utf8.contains(next) { canSpanLines = false }
                place += 1
                last = 0
            case UInt8(ascii: "("):
                let after = place + 2 < pattern.count ? pattern[place + 2] : 0
                if next == UInt8(ascii: "*") || next == UInt8(ascii: "?") && after != UInt8(ascii: ":") {
                    canSpanLines = false
                }
                last = 0
            case UInt8(ascii: "+") where "*+?}".utf8.contains(last):
                canSpanLines = false
            default:
                if byte == UInt8(ascii: "[") { isInSet = true }
                if byte == UInt8(ascii: "]") { isInSet = false }
                last = byte
            }
            place += 1
        }
    }
}
