import Capabilities
public import Runs

/// What GitHub Actions reads: annotations in what a job prints, and the summary that a step leaves.
public enum GitHubReport {
    /// Whether the environment is that of such a job.
    public static func isWanted(_ environment: [String: String]) -> Bool { environment["GITHUB_ACTIONS"] == "true" }

    /// The line that marks a place of a file with what went wrong there.
    public static func annotation(
        _ level: Level = .error, file: String, line: Int, column: Int = 1, title: String, _ message: String
    ) -> String {
        "::\(level.rawValue) file=\(property(file)),line=\(line),col=\(column),title=\(property(title))::\(data(message))"
    }

    /// Lines in which nothing is a command, whatever begins them: a model or a file may have said it.
    public static func withoutCommands(_ lines: [String]) -> [String] {
        // Nobody can guess the word that ends it.
        let end =
            String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
        return ["::stop-commands::\(end)"] + lines + ["::\(end)::"]
    }

    public enum Level: String, Sendable {
        case error, warning
    }

    /// The run as Markdown, with a table of its steps.
    public static func summary(_ summary: RunSummary) -> String {
        let steps = summary.steps.leaves
        var lines = [
            "### \(cell(summary.name)): \(summary.status.rawValue)", "",
            "\(steps.count) steps, \(summary.count(of: .failed, in: steps)) failed, "
                + "\((summary.ended - summary.started).roundedWords) — run `\(summary.id.text)`", "",
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

    /// A summary may have a megabyte.
    private static let rows = 1_000

    private static func mark(_ outcome: StepOutcome) -> String {
        switch outcome.status {
        case .ok: "✅"
        case .failed: outcome.isForgiven ? "⚠️" : "❌"
        case .skipped, .blocked, .cancelled, .running: "⏭️"
        }
    }

    /// "%", carriage return and line feed are the marks of the format, and so written as their codes.
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

    /// Text that Markdown takes for nothing but text, on one line of a table.
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
