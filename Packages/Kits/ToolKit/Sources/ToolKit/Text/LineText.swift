/// A line of a file as a text for a model.
struct LineText: Sendable {
    let text: String
    /// Whether bytes that are no UTF-8 had to be replaced.
    let wasRepaired: Bool

    /// Shows at most `limit` bytes, whose place is chosen so that `focus` can be seen, and says what was left out.
    init(_ line: ArraySlice<UInt8>, limit: Int, length: Int? = nil, focus: Int? = nil) {
        let length = length ?? line.count
        var range = line.indices
        if range.count > limit {
            let lead = min(max(0, (focus ?? line.startIndex) - line.startIndex - limit / 4), line.count - limit)
            range = (line.startIndex + lead)..<(line.startIndex + lead + limit)
            // A cut does not go through a character.
            while range.lowerBound > line.startIndex, range.count > limit - 3, line[range.lowerBound] & 0xC0 == 0x80 {
                range = (range.lowerBound + 1)..<range.upperBound
            }
            while range.upperBound < line.endIndex, range.count > limit - 6, line[range.upperBound] & 0xC0 == 0x80 {
                range = range.lowerBound..<(range.upperBound - 1)
            }
        }
        let shown = line[range]
        let sound = String(validating: shown, as: UTF8.self)
        wasRepaired = sound == nil
        var text = sound ?? String(decoding: shown, as: UTF8.self)
        if range.lowerBound > line.startIndex { text = "…" + text }
        if shown.count < length { text += "… [cut: the line has \(length) bytes]" }
        self.text = text
    }
}
