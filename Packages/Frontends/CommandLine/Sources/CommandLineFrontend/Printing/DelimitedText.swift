import Capabilities
import JSON

/// Results as CSV (RFC 4180) and as Markdown tables.
enum DelimitedText {
    static func csv(_ value: JSON, _ schema: Schema) -> String {
        let (header, rows) = table(value, schema)
        return ([header] + rows).map { $0.map(quoted).joined(separator: ",") + "\r\n" }.joined()
    }

    static func markdown(_ value: JSON, _ schema: Schema) -> String {
        if case .string = schema.unwrapped, let text = value.string { return text.hasSuffix("\n") ? text : text + "\n" }
        let (header, rows) = table(value, schema)
        let rule = header.map { _ in "---" }
        return ([header, rule] + rows).map { "| " + $0.map(escaped).joined(separator: " | ") + " |\n" }.joined()
    }

    /// Every result is a table: of records, of one record, or of one column named `value`.
    private static func table(_ value: JSON, _ schema: Schema) -> (header: [String], rows: [[String]]) {
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
            // A cell is text, and a tag in it would be one on the page.
            case "<": text += "&lt;"
            case "\n", "\r\n", "\r": text += "<br>"
            default: text.append(character)
            }
        }
        return text
    }
}
