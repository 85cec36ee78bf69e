/// The entry of fuzzers: any bytes as Markdown. A broken promise stops the program.
@_spi(Fuzzing) public enum MarkdownFuzz {
    /// Draws `bytes` at a width that the first of them selects, at once and as a stream in pieces.
    public static func render(_ bytes: [UInt8]) {
        let width = 8 + Int(bytes.first ?? 0) % 80
        let text = String(decoding: bytes, as: UTF8.self)
        for line in Markdown.render(text, width: width, level: .truecolor, links: true) {
            precondition(TextWidth.of(line.plainText) <= width, "a line is wider than \(width): \(line.plainText)")
            precondition(isHarmless(line.rendered(level: .none)), "a control character is in the text")
            precondition(isHarmless(withoutOwnSequences(line.rendered(level: .truecolor))), "a sequence is not ours")
        }
        precondition(stream([bytes], width) == stream(bytes.map { [$0] }, width), "the cuts show")
    }

    private static func stream(_ pieces: [[UInt8]], _ width: Int) -> [StyledText] {
        var stream = MarkdownStream(width: width, level: .none)
        var lines: [StyledText] = []
        for piece in pieces { lines += stream.append(piece) }
        _ = stream.tail()
        return lines + stream.finish()
    }

    private static func isHarmless(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0 == "\n" || $0 == "\t" || Sanitizer.isHarmful($0.value) }
    }

    /// The text without the two kinds of sequences of styled text.
    public static func withoutOwnSequences(_ text: String) -> String {
        var rest = Array(text.unicodeScalars)[...]
        var result = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar != "\u{1B}" {
                result.append(scalar)
            } else if rest.starts(with: "[".unicodeScalars) {
                let body = rest.dropFirst().prefix { ("0"..."9").contains($0) || $0 == ";" }
                if rest.dropFirst(1 + body.count).first == "m" { rest = rest.dropFirst(2 + body.count) }
            } else if rest.starts(with: "]8;;".unicodeScalars) {
                let body = rest.dropFirst(4).prefix { $0.value > 0x20 && $0.value < 0x7F }
                if rest.dropFirst(4 + body.count).starts(with: "\u{1B}\\".unicodeScalars) {
                    rest = rest.dropFirst(6 + body.count)
                }
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}
