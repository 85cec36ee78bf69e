import Capabilities
import JSON
import TerminalKit

/// Prints errors on standard error: a sentence for a person, one line of JSON for a program.
struct ErrorPrinter {
    private let streams: StandardStreams
    private let format: OutputFormat
    private let level: ColorLevel
    private let theme: @Sendable () -> Theme
    private let isVerbose: Bool
    private let program: String
    private let redactor: Redactor
    private let messages: MessageLines

    init(
        _ streams: StandardStreams, format: OutputFormat, level: ColorLevel,
        theme: @escaping @Sendable () -> Theme = { .terminal }, isVerbose: Bool, program: String, redactor: Redactor,
        width: Int? = nil
    ) {
        self.streams = streams
        self.format = format
        self.level = level
        self.theme = theme
        self.isVerbose = isVerbose
        self.program = program
        self.redactor = redactor
        messages = MessageLines(program: program) { width }
    }

    /// The cause of the failure; nil if the message already contains it.
    static func reason(of failure: AnyFailure) -> String? {
        guard let cause = failure.cause else { return nil }
        let words = (cause as? any Failure)?.message ?? String(describing: cause)
        return failure.message.contains(words) ? nil : words
    }

    /// Prints the error and returns its exit code.
    func print(_ error: any Error, usage: String? = nil) -> ExitCode {
        let failure = AnyFailure(error)
        if case OutputError.nobodyReads = error { return .done }
        if format.isForPrograms {
            streams.writeError(redactor.redact(failure.report).text())
            return failure.exit
        }
        let label = StyledText("\(program): ", Style(.error, bold: true))
        let lines = redactor.redact(failure.message).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        let theme = level == .none ? .plain : theme()
        for (index, line) in lines.enumerated() {
            let text = Sanitizer.sanitize(line)
            // Later lines form a list, and editors expect `file:line:column` at the start of a line.
            guard index == 0 || !line.hasPrefix(" ") else {
                for part in messages.lines(of: text) { streams.writeError(part) }
                continue
            }
            let parts = messages.lines(of: label.plainText + text, indent: 0)
            let first = StyledText(String(parts[0].dropFirst(label.plainText.count)))
            streams.writeError((label + first).rendered(level: level, theme: theme))
            for part in parts.dropFirst() { streams.writeError(part) }
        }
        if isVerbose, let words = Self.reason(of: failure) {
            for part in messages.lines(of: Sanitizer.sanitize(redactor.redact("  because: \(words)"))) {
                streams.writeError(part)
            }
        }
        if let usage { for part in messages.lines(of: usage, indent: 7) { streams.writeError(part) } }
        return failure.exit
    }
}

/// Wraps messages at spaces, because a terminal would break them inside words.
struct MessageLines: Sendable {
    /// The program's name, used to recognise commands.
    let program: String
    /// The line width; nil if standard error is not a terminal, and lines stay unwrapped. Queried for each text,
    /// because windows are resized.
    let width: @Sendable () -> Int?

    /// The lines of a text. Continuation lines are indented like the line itself, or like its second column.
    func lines(of text: String) -> [String] {
        let width = width()
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { lines(of: String($0), width, indent: nil) }
    }

    /// The lines of a text that begins with a label, which does not affect the indent.
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

    /// A command on its own line is meant to be copied, so it is not wrapped.
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
