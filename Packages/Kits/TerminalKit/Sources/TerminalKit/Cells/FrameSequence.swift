/// The sequences of a frame.
enum FrameSequence {
    /// "Control sequence introducer".
    static let start = Array("\u{1B}[".utf8)
    static let home = Array("\u{1B}[H".utf8)
    static let clear = Array("\u{1B}[2J".utf8)
    static let eraseToEnd = Array("\u{1B}[K".utf8)
    /// Erases everything from the start of this line on. Some terminals keep erased content of their very first
    /// position.
    static let eraseBelow = Array("\u{1B}[K\u{1B}[C\u{1B}[J\r".utf8)
    static let reset = Array("\u{1B}[m".utf8)
    static let wholeScreen = Array("\u{1B}[r".utf8)
    static let lineFeed = Array("\n".utf8)
    static let lineBreak = Array("\r\n".utf8)
    static let reverseLineFeed = Array("\u{1B}M".utf8)
    static let noWrap = Array("\u{1B}[?7l".utf8)
    static let wrap = Array("\u{1B}[?7h".utf8)
    static let hideCursor = Array("\u{1B}[?25l".utf8)
    static let showCursor = Array("\u{1B}[?25h".utf8)
    static let beginUpdate = Array("\u{1B}[?2026h".utf8)
    static let endUpdate = Array("\u{1B}[?2026l".utf8)
    static let stringEnd = Array("\u{1B}\\".utf8)
    static let endLink = Array("\u{1B}]8;;\u{1B}\\".utf8)

    /// The following text links to that target. The id is the same wherever it is on the screen, so that a terminal
    /// takes the parts of a link that is wrapped for one.
    static func beginLink(_ target: LinkTarget) -> [UInt8] {
        var hash: UInt32 = 0x811C_9DC5
        for byte in target.address.utf8 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Array("\u{1B}]8;id=\(String(hash, radix: 36));\(target.address)\u{1B}\\".utf8)
    }

    static func move(to place: CellPosition, _ output: inout [UInt8]) {
        output += start
        output.append(decimal: place.row + 1)
        output.append(0x3B)
        output.append(decimal: place.column + 1)
        output.append(0x48)
    }
}

extension [UInt8] {
    /// Adds a scalar in UTF-8.
    mutating func append(scalar value: UInt32) {
        if value < 0x80 { return append(UInt8(truncatingIfNeeded: value)) }
        guard let scalar = Unicode.Scalar(value) else { return }
        append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
}
