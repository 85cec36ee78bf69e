/// A text that the terminal marks as pasted, byte by byte up to the mark of its end.
struct PastedText: Sendable {
    enum Step {
        case more, end
        /// The person pressed Ctrl-C twice, since the end did not come.
        case interrupted
    }

    private static let endMark = Array("\u{1B}[201~".utf8)
    private static let interrupts: [UInt8] = [0x03, 0x03]

    private var bytes: [UInt8] = []

    mutating func receive(_ byte: UInt8) -> Step {
        bytes.append(byte)
        // More than a text may have is counted no further, so that it is refused and not kept.
        if bytes.count > 2 * Composer.limit { bytes.removeSubrange(Composer.limit + 1..<bytes.count - 8) }
        if byte == UInt8(ascii: "~"), drop(Self.endMark) { return .end }
        if byte == 0x03, drop(Self.interrupts) { return .interrupted }
        return .more
    }

    /// What arrived, with line feeds between its lines, and harmless.
    var text: String {
        // Terminals send the Return key for the end of a line.
        let lines = String(decoding: bytes, as: UTF8.self).split(omittingEmptySubsequences: false) {
            $0 == "\r\n" || $0 == "\r" || $0 == "\n"
        }
        return Sanitizer.sanitize(lines.joined(separator: "\n"))
    }

    /// Takes `mark` away from the end, if it stands there.
    private mutating func drop(_ mark: [UInt8]) -> Bool {
        guard bytes.count >= mark.count, bytes.suffix(mark.count).elementsEqual(mark) else { return false }
        bytes.removeLast(mark.count)
        return true
    }
}
