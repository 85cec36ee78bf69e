/// Turns UTF-16 into UTF-8 piece by piece; half a surrogate becomes a replacement character.
struct UTF16Decoder: Sendable {
    let isBigEndian: Bool
    /// What the end of a piece left undecided: an odd byte, or the first half of a pair.
    private var rest: [UInt8] = []

    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
    }

    /// The text of another piece.
    mutating func decode(_ piece: some Sequence<UInt8>) -> [UInt8] {
        let bytes = rest + piece
        var count = bytes.count & ~1
        if count >= 2, unit(bytes, at: count - 2) & 0xFC00 == 0xD800 { count -= 2 }
        rest = Array(bytes[count...])
        return text(bytes, count)
    }

    /// What is left at the end of the file.
    mutating func finish() -> [UInt8] {
        defer { rest = [] }
        return rest.isEmpty ? [] : Array("\u{FFFD}".utf8)
    }

    private func unit(_ bytes: [UInt8], at place: Int) -> UInt16 {
        let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
        return isBigEndian ? first << 8 | second : second << 8 | first
    }

    private func text(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(count / 2)
        for place in stride(from: 0, to: count, by: 2) { units.append(unit(bytes, at: place)) }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
