/// Replacements in a text, which do not overlap.
struct JSONEdits {
    private var edits: [(range: Range<Int>, text: String)] = []

    mutating func replace(_ range: Range<Int>, with text: String) {
        edits.append((range, text))
    }

    mutating func insert(_ text: String, at offset: Int) {
        replace(offset..<offset, with: text)
    }

    /// The text with the replacements made; those at one place keep their order.
    func applied(to text: [UInt8]) -> String {
        var result: [UInt8] = []
        var place = 0
        for (range, replacement) in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            result += text[place..<range.lowerBound]
            result += replacement.utf8
            place = range.upperBound
        }
        result += text[place...]
        return String(decoding: result, as: UTF8.self)
    }
}
