import Capabilities
import JSON
import TerminalKit

/// A result in the format that was asked for.
struct ResultPrinter {
    let format: OutputFormat
    let level: ColorLevel
    /// The width of the terminal; nil when the output goes elsewhere and nothing may be cut.
    let width: Int?
    /// What the colours are, asked only where there are some.
    var theme: @Sendable () -> Theme = { .dark }
    /// How times are told to a person who reads now.
    var clock: LocalClock?

    /// The whole text, with its last line ending; empty when there is nothing to say.
    func text(_ value: JSON, _ schema: Schema, isStream: Bool) -> String {
        switch format {
        case .text: TextForm(level: level, width: width, theme: theme, clock: clock).text(value, schema)
        case .json: shown(value.text(.pretty) + "\n")
        case .ndjson: shown(lines(value, isStream: isStream))
        case .csv: shown(DelimitedText.csv(value, schema))
        case .markdown: Sanitizer.sanitize(DelimitedText.markdown(value, schema))
        }
    }

    /// A program gets every byte; on a terminal the same text must command nothing.
    private func shown(_ text: String) -> String {
        width == nil ? text : Sanitizer.sanitize(text)
    }

    /// A stream ends with its result as an event; a list without events is a line an element.
    private func lines(_ value: JSON, isStream: Bool) -> String {
        if isStream {
            var line: JSONObject = ["type": "result", "is_error": false]
            // A record that names its own result stands beside it with its other members, as programs of this kind do it.
            if let members = value.object, members["result"] != nil {
                for (name, member) in members { line.append(name, member) }
            } else {
                line.append("result", value)
            }
            return JSON.object(line).text() + "\n"
        }
        guard let items = value.array else { return value.text() + "\n" }
        return items.map { $0.text() + "\n" }.joined()
    }
}
