import TerminalKit

/// Breaks what is told on standard error at words, where a terminal would break it inside them.
struct MessageLines: Sendable {
    /// The program's name, by which commands are told from sentences.
    let program: String
    /// Where lines end; nil where nobody looks at a terminal, and lines stay as they are. Asked anew for each text, since
    /// windows change.
    let width: @Sendable () -> Int?

    /// The lines of a text. Those that go on are indented as the line is, or as the second of its two columns.
    func lines(of text: String) -> [String] {
        let width = width()
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { lines(of: String($0), width, indent: nil) }
    }

    /// The lines of one that begins with a label: the label is not indented for.
    func lines(of line: String, indent: Int) -> [String] { lines(of: line, width(), indent: indent) }

    private func lines(of line: String, _ width: Int?, indent: Int?) -> [String] {
        guard let width, width >= 10, TextWidth.of(line) > width, !isCommand(line) else { return [line] }
        let start = TextWidth.prefix(of: line, width: indent ?? Self.indent(of: line, width))
        let columns = TextWidth.of(start)
        let parts = TextWidth.wrap(String(line.dropFirst(start.count)), to: width - columns)
        return parts.enumerated().map { number, part in
            (number == 0 ? start : String(repeating: " ", count: columns)) + part
        }
    }

    /// A command on a line of its own is copied, and stays one.
    private func isCommand(_ line: String) -> Bool {
        line.first == " " && line.drop { $0 == " " }.hasPrefix(program + " ")
    }

    private static func indent(of line: String, _ width: Int) -> Int {
        let words = line.drop { $0 == " " }
        let lead = min(line.count - words.count, width / 2)
        guard let gap = words.firstRange(of: "  ") else { return lead }
        let column = TextWidth.of(String(line[..<gap.lowerBound])) + words[gap.lowerBound...].prefix { $0 == " " }.count
        return column <= width / 2 ? column : lead
    }
}
