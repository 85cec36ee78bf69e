import Capabilities
import JSON
import Screens
import TerminalForms
import TerminalKit

/// Formats a result in the requested format.
struct ResultPrinter {
    let format: OutputFormat
    let level: ColorLevel
    /// The width of the terminal; nil if the output is not a terminal and nothing may be cut.
    let width: Int?
    /// Provides the theme; called only if the text has colours.
    var theme: @Sendable () -> Theme = { .dark }
    /// Formats times for a person who reads them now.
    var clock: LocalClock?

    /// The whole text, including the final line break; empty if there is nothing to print.
    func text(_ value: JSON, _ schema: Schema, isStream: Bool) -> String {
        switch format {
        case .text: TextForm(level: level, width: width, theme: theme, clock: clock).text(value, schema)
        case .json: shown(value.text(.pretty) + "\n")
        case .ndjson: shown(lines(value, isStream: isStream))
        case .csv: shown(DelimitedText.csv(value, schema))
        case .markdown: Sanitizer.sanitize(DelimitedText.markdown(value, schema))
        }
    }

    /// A block as text; nil where the result is printed as it is.
    func text(_ block: Block) -> String? {
        switch format {
        case .text:
            let form = TextForm(level: level, width: width, theme: theme, clock: clock)
            return form.text(form.lines(block))
        case .markdown: return Sanitizer.sanitize(BlockDocument.markdown(block, TextForm(level: .none, width: nil)))
        case .csv: return BlockDocument.csv(block).map(shown)
        case .json, .ndjson: return nil
        }
    }

    /// A program gets every byte; on a terminal the same text must not act as control sequences.
    private func shown(_ text: String) -> String {
        width == nil ? text : Sanitizer.sanitize(text)
    }

    /// A stream ends with its result as an event. A list without events prints one element per line.
    private func lines(_ value: JSON, isStream: Bool) -> String {
        if isStream {
            var line: JSONObject = ["type": "result", "is_error": false]
            // If the record has a member named `result`, its members are put next to `type`, as similar programs do.
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

/// How a result is printed.
enum OutputFormat: String, Choice {
    case text, json, ndjson, csv, markdown

    /// All accepted words, including another common name for NDJSON.
    static var words: [String] { allCases.map(\.rawValue) + ["stream-json"] }

    init?(word: String) {
        self.init(rawValue: word == "stream-json" ? "ndjson" : word)
    }

    /// Whether messages and errors are formatted for a program too.
    var isForPrograms: Bool { self == .json || self == .ndjson }
}

/// Results as CSV (RFC 4180) and as Markdown tables.
enum DelimitedText {
    static func csv(_ value: JSON, _ schema: Schema) -> String {
        let (header, rows) = table(value, schema)
        return ([header] + rows).map { $0.map(quoted).joined(separator: ",") + "\r\n" }.joined()
    }

    static func markdown(_ value: JSON, _ schema: Schema) -> String {
        if case .string = schema.unwrapped, let text = value.string { return text.hasSuffix("\n") ? text : text + "\n" }
        // A table row has room for short values only; a record with longer ones becomes a list.
        if case .record(let properties) = schema.unwrapped, let object = value.object,
            object.contains(where: { !isShort($0.value) })
        {
            return list(object, properties.map(\.name))
        }
        let (header, rows) = table(value, schema, words)
        return grid(header, rows)
    }

    private static func grid(_ header: [String], _ rows: [[String]]) -> String {
        let rule = header.map { _ in "---" }
        return ([header, rule] + rows).map { "| " + $0.map(escaped).joined(separator: " | ") + " |\n" }.joined()
    }

    private static func isShort(_ value: JSON) -> Bool {
        value.array?.isEmpty != false && value.object?.isEmpty != false
            && value.string?.contains(where: \.isNewline) != true
    }

    /// Short members first, one per line. Then each other member under its name: text unchanged, records as tables.
    private static func list(_ object: JSONObject, _ names: [String]) -> String {
        var (lines, sections) = ("", "")
        for name in names {
            guard let value = object[name], !Cells.isEmpty(value) else { continue }
            if let items = value.array, !items.isEmpty, items.allSatisfy({ $0.object != nil }) {
                var columns: [String] = []
                for (key, _) in items.flatMap({ Array($0.object ?? [:]) }) where !columns.contains(key) {
                    columns.append(key)
                }
                let rows = items.map { item in columns.map { words(item[$0] ?? .null) } }
                sections += "\n## \(label(name))\n\n" + grid(columns, rows)
            } else if let text = value.string, !isShort(value) {
                sections += "\n## \(label(name))\n\n\(text)" + (text.hasSuffix("\n") ? "" : "\n")
            } else {
                lines += "- **\(label(name))**: \(escaped(words(value)))\n"
            }
        }
        return lines.isEmpty ? String(sections.dropFirst()) : lines + sections
    }

    private static func label(_ name: String) -> String { String(name.map { $0 == "_" ? " " : $0 }) }

    /// A value for a person: `input tokens 12, output tokens 3` instead of JSON.
    private static func words(_ value: JSON) -> String {
        if let members = value.object {
            return members.map { "\(label($0.key)) \(words($0.value))" }.joined(separator: ", ")
        }
        if let items = value.array { return items.map(words).joined(separator: ", ") }
        return plain(value)
    }

    /// Formats every result as a table: of records, of one record, or with one column named `value`.
    private static func table(
        _ value: JSON, _ schema: Schema, _ plain: (JSON) -> String = plain
    ) -> (header: [String], rows: [[String]]) {
        let rows = value.array ?? (value.isNull ? [] : [value])
        guard case .record(let properties) = (schema.element ?? schema).unwrapped else {
            return (["value"], rows.map { [plain($0)] })
        }
        return (properties.map(\.name), rows.map { row in properties.map { plain(row[$0.name] ?? .null) } })
    }

    private static func plain(_ value: JSON) -> String {
        value.isNull ? "" : value.string ?? value.text()
    }

    private static func quoted(_ cell: String) -> String {
        let needsQuotes = cell.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        guard needsQuotes else { return cell }
        return "\"" + cell.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    private static func escaped(_ cell: String) -> String {
        var text = ""
        for character in cell {
            switch character {
            case "|", "\\": text += "\\\(character)"
            // A cell is text, so a tag in it must not become HTML.
            case "<": text += "&lt;"
            case "\n", "\r\n", "\r": text += "<br>"
            default: text.append(character)
            }
        }
        return text
    }
}
