import Capabilities
public import Runs

/// Output for GitHub Actions: annotations of a job, and the summary of a step.
public enum GitHubReport {
    /// Whether this runs in GitHub Actions.
    public static func isWanted(_ environment: [String: String]) -> Bool { environment["GITHUB_ACTIONS"] == "true" }

    /// An annotation that marks a place in a file with an error.
    public static func annotation(
        _ level: Level = .error, file: String, line: Int, column: Int = 1, title: String, _ message: String
    ) -> String {
        "::\(level.rawValue) file=\(property(file)),line=\(line),col=\(column),title=\(property(title))::\(data(message))"
    }

    /// Prevents lines from being read as commands, because they may come from a model or a file.
    public static func withoutCommands(_ lines: [String]) -> [String] {
        // A random word, so that the lines cannot contain it.
        let end =
            String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
        return ["::stop-commands::\(end)"] + lines + ["::\(end)::"]
    }

    /// How GitHub shows an annotation.
    public enum Level: String, Sendable {
        case error, warning
    }

    /// The run as Markdown, with a table of its steps.
    public static func summary(_ summary: RunSummary) -> String {
        let steps = summary.steps.leaves
        var lines = [
            "### \(cell(summary.name)): \(summary.status.rawValue)", "",
            "\(steps.count) steps, \(summary.count(of: .failed, in: steps)) failed, "
                + "\((summary.ended - summary.started).roundedWords); run `\(summary.id.text)`", "",
            "| Step | Does | Status | Time | Error |", "| --- | --- | --- | --- | --- |",
        ]
        for step in steps.prefix(rows) {
            let outcome = step.outcome
            lines.append(
                "| \(cell(step.key)) | \(cell(step.work)) | \(mark(outcome)) \(outcome.status.rawValue) "
                    + "| \(outcome.duration.roundedWords) | \(cell(outcome.error?.message ?? "")) |")
        }
        if steps.count > rows { lines += ["", "…and \(steps.count - rows) more"] }
        return lines.joined(separator: "\n") + "\n\n"
    }

    /// A summary is limited to one megabyte.
    private static let rows = 1_000

    private static func mark(_ outcome: StepOutcome) -> String {
        switch outcome.status {
        case .ok: "✅"
        case .failed: outcome.isForgiven ? "⚠️" : "❌"
        case .skipped, .blocked, .cancelled, .running: "⏭️"
        }
    }

    /// Percent signs and line breaks are special in the format, so they are encoded.
    private static func data(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "%": result += "%25"
            case "\r": result += "%0D"
            case "\n": result += "%0A"
            default: result += PlainText.escape(String(scalar))
            }
        }
    }

    private static func property(_ text: String) -> String {
        data(text).unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case ":": result += "%3A"
            case ",": result += "%2C"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    /// Text for a table cell, with Markdown and line breaks escaped.
    private static func cell(_ text: String) -> String {
        var result = ""
        for scalar in text.prefix(300).unicodeScalars {
            switch scalar {
            case "\n", "\r", "\t": result += " "
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "&": result += "&amp;"
            case "\\", "`", "*", "_", "[", "]", "|", "#", "!", "~", "@", "$": result += "\\\(scalar)"
            default: result += PlainText.escape(String(scalar))
            }
        }
        return result
    }
}

extension RunSummary {
    func count(of status: StepStatus, in steps: [StepUpdate]) -> Int {
        steps.count { $0.outcome.status == status && !$0.outcome.isForgiven }
    }
}
