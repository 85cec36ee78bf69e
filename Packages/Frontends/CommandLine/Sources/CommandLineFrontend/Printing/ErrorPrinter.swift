import Capabilities
import JSON
import TerminalKit

/// Errors on standard error: a sentence for a person, one line of JSON for a program.
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

    /// What lies behind the failure; nil where the message says it already.
    static func reason(of failure: AnyFailure) -> String? {
        guard let cause = failure.cause else { return nil }
        let words = (cause as? any Failure)?.message ?? String(describing: cause)
        return failure.message.contains(words) ? nil : words
    }

    /// Prints the error and gives the exit code that it means.
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
            // Lines after the first are a list of their own, and editors look for `file:line:column` at their start.
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
