import Capabilities
import JSON
public import Runs
import TerminalKit

/// A run as a single page with a timeline. The page needs no other files and runs no scripts.
public enum HTMLReport {
    /// The page of a run that has ended.
    public static func text(_ summary: RunSummary) -> String {
        let steps = summary.steps.sorted { ($0.begun, $0.key) < ($1.begun, $1.key) }
        let leaves = summary.steps.leaves
        let total = max(summary.ended - summary.started, .milliseconds(1))
        var page = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>\(escape(summary.name)): \(summary.status.rawValue)</title>
            <style>
            \(HTMLStyle.text)
            </style>
            </head>
            <body>
            <h1>\(escape(summary.name)) <span class="\(summary.status.rawValue)">\(summary.status.rawValue)</span></h1>
            <p>Run \(escape(summary.id.text)), \(summary.started.iso8601), \((summary.ended - summary.started).roundedWords), \
            \(leaves.count) steps, \(summary.count(of: .failed, in: leaves)) failed, exit code \(summary.exit.rawValue)</p>

            """
        if let error = summary.error {
            page += "<p class=\"failed\">\(escape(error.code)): \(escape(error.message))</p>\n"
        }
        if !summary.outputs.isEmpty { page += "<h2>Outputs</h2>\n\(block(.object(summary.outputs)))\n" }
        page += "<h2>Timeline</h2>\n<div class=\"steps\">\n"
        for step in steps { page += row(step, from: summary.started, total) }
        return page + "</div>\n</body>\n</html>\n"
    }

    private static func row(_ step: StepUpdate, from start: Timestamp, _ total: Duration) -> String {
        let outcome = step.outcome
        let left = percent((step.begun - start) / total)
        let width = percent(max(0.002, outcome.duration / total))
        var notes: [String] = []
        if step.attempt > 1 || step.triesAgain { notes.append("attempt \(step.attempt)") }
        if step.isRestored { notes.append("finished earlier") }
        if step.isCached { notes.append("from cache") }
        if outcome.isForgiven { notes.append("allowed to fail") }
        let status = outcome.status.rawValue
        var row = """
            <details><summary><span class="name">\(escape(step.key))</span>\
            <span class="\(status)">\(status)\(notes.isEmpty ? "" : ", " + notes.joined(separator: ", "))</span>\
            <span class="time">\(outcome.duration.roundedWords)</span>\
            <span class="track"><span class="bar \(status)" style="left:\(left);width:\(width)"></span></span></summary>
            <p>\(escape(step.work)), exit code \(outcome.exit)</p>

            """
        if let error = outcome.error {
            row += "<p class=\"failed\">\(escape(error.code)): \(escape(error.message))</p>\n"
        }
        if step.arguments.object?.isEmpty == false { row += "<h3>With</h3>\n\(block(step.arguments))\n" }
        if !outcome.result.isNull { row += "<h3>Result</h3>\n\(block(outcome.result))\n" }
        return row + "</details>\n"
    }

    /// The size limit for a shown value, so that a page with many values still opens.
    private static let longest = 20_000

    private static func block(_ value: JSON) -> String {
        let text = value.text(.pretty)
        let shown = text.utf8.count > longest ? String(text.prefix(longest)) + "\n… cut here" : text
        return "<pre>\(escape(shown).replacing("&#10;", with: "\n"))</pre>"
    }

    private static func escape(_ text: String) -> String { MarkupText.escape(text) }

    private static func percent(_ share: Double) -> String {
        let bounded = share.isFinite ? min(1, max(0, share)) : 0
        return "\((bounded * 10_000).rounded() / 100)%"
    }
}

extension StepUpdate {
    /// The start time of a step that has ended.
    fileprivate var begun: Timestamp { time + (.zero - outcome.duration) }
}

/// The style of the page, in the palette of the workspace, by token name.
enum HTMLStyle {
    static var text: String {
        let tokens = ThemeToken.allCases.compactMap { token in
            Theme.dark[token].map { "--\(token.rawValue): hsl(\($0.hue) \($0.saturation)% \($0.lightness)%);" }
        }
        return ":root { color-scheme: dark; \(tokens.joined(separator: " ")) }\n" + rules
    }

    private static let rules = """
        body { background: var(--background); color: var(--foreground); font: 14px/1.5 system-ui, sans-serif; margin: 2rem; }
        h1, h2, h3 { color: var(--primary); font-weight: 600; }
        h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; } h3 { font-size: .9rem; margin: .5rem 0 0; }
        p { color: var(--muted-foreground); overflow-wrap: anywhere; }
        details { border-bottom: 1px solid var(--input); }
        summary { display: grid; grid-template-columns: 18rem 12rem 5rem 1fr; gap: 1rem; padding: .2rem 0; cursor: pointer; }
        .name { color: var(--card-foreground); overflow-wrap: anywhere; }
        .time { text-align: right; }
        .track { position: relative; background: var(--muted); height: .8rem; margin-top: .3rem; }
        .bar { position: absolute; top: 0; bottom: 0; background: var(--chart-1); }
        .bar.failed { background: var(--destructive); } .bar.skipped, .bar.blocked, .bar.cancelled { background: var(--chart-4); }
        .ok { color: var(--accent-foreground); } .running { color: var(--ring); }
        span.failed, p.failed { color: var(--destructive); }
        .bar.failed { color: inherit; }
        pre { background: var(--muted); color: var(--foreground); padding: .6rem; overflow: auto; max-height: 30rem; }
        """
}

/// Text from outside in XML and HTML.
enum MarkupText {
    /// Escapes text for content and for attributes in double quotes. Characters that XML 1.0 cannot contain are spelled
    /// out: "Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]".
    static func escape(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            // In an attribute they would become spaces.
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            // They would change the order in which the text is displayed.
            case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
