import Capabilities
import JSON
import Screens
import TerminalForms
import TerminalKit

/// Formats the blocks of a screen as Markdown, or the first table in them as CSV.
enum BlockDocument {
    /// The blocks below each other, with their titles as headings.
    static func markdown(_ block: Block, _ form: TextForm) -> String {
        sections(block, form).joined(separator: "\n\n") + "\n"
    }

    /// The rows of the first table; nil if there is none.
    static func csv(_ block: Block) -> String? {
        if case .table(let table) = block.content, case .all(let rows) = table.rows {
            return DelimitedText.csv(.array(rows.map { .object($0) }), .array(.record(table.columns)))
        }
        for child in block.children {
            if let rows = csv(child) { return rows }
        }
        return nil
    }

    private static func sections(_ block: Block, _ form: TextForm) -> [String] {
        let title = block.title.map { "## \($0.split(whereSeparator: \.isNewline).joined(separator: " "))" }
        return [title].compactMap { $0 } + content(of: block, form)
    }

    private static func content(of block: Block, _ form: TextForm) -> [String] {
        switch block.content {
        case .table(let table):
            guard case .all(let rows) = table.rows, !rows.isEmpty else { return [table.empty] }
            let columns = table.columns.filter { $0.role != .detail }
            return [trimmed(DelimitedText.markdown(.array(rows.map { .object($0) }), .array(.record(columns))))]
        case .values(let values):
            return [trimmed(DelimitedText.markdown(.object(values.values), .record(values.properties)))]
        case .timeline(let timeline):
            return [trimmed(DelimitedText.markdown(timeline.steps.json, [Timeline.Step].schema))]
        case .markdown(let markdown): return [markdown.text]
        case .code(let code): return [fenced(code.text, code.language ?? "")]
        case .diff(let diff): return [fenced(diff.text, "diff")]
        case .transcript(let transcript):
            let omission = form.omission(transcript.feed, "entry").map { trimmed(form.text([$0])) }
            return omission + transcript.feed.entries(from: 0).entries.flatMap(entry)
        case .stack, .split, .tabs, .collapsible: return block.children.flatMap { sections($0, form) }
        case .text, .placeholder: return [trimmed(form.text(form.content(of: block)))]
        case .tree, .log, .waterfall, .chart, .gauge, .progress, .form, .composer:
            return [fenced(trimmed(form.text(form.content(of: block))), "")]
        }
    }

    private static func entry(_ entry: Transcript.Entry) -> [String] {
        let head = "**\(entry.title ?? entry.author.rawValue)**" + (entry.time.map { ", \($0.iso8601)" } ?? "")
        switch entry.author {
        case .person, .model: return [head, entry.text]
        case .thought, .tool, .notice: return [head, fenced(entry.text, "")]
        }
    }

    /// A fence that no line of the text can end.
    private static func fenced(_ text: String, _ language: String) -> String {
        let longest = text.split { $0 != "`" }.map(\.count).max() ?? 0
        let fence = String(repeating: "`", count: max(3, longest + 1))
        let word = language.prefix { $0.isLetter || $0.isNumber || "+-#".contains($0) }
        return "\(fence)\(word)\n\(text)\n\(fence)"
    }

    private static func trimmed(_ text: String) -> String {
        text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
