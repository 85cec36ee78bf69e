/// A text that the terminal marks as pasted, byte by byte up to the mark of its end.
struct PastedText: Sendable {
    private static let endMark = Array("\u{1B}[201~".utf8)

    private var bytes: [UInt8] = []

    /// The text once its end has arrived: with line feeds between its lines, and harmless.
    mutating func receive(_ byte: UInt8) -> String? {
        bytes.append(byte)
        // More than a text may have is counted no further, so that it is refused and not kept.
        if bytes.count > 2 * Composer.limit { bytes.removeSubrange(Composer.limit + 1..<bytes.count - 8) }
        guard byte == UInt8(ascii: "~"), bytes.count >= Self.endMark.count,
            bytes.suffix(Self.endMark.count).elementsEqual(Self.endMark)
        else { return nil }
        let text = String(decoding: bytes.dropLast(Self.endMark.count), as: UTF8.self)
        // Terminals send the Return key for the end of a line.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\r" || $0 == "\n" }
        return Sanitizer.sanitize(lines.joined(separator: "\n"))
    }
}
