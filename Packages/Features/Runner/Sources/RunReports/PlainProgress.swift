import Capabilities
import JSON
public import Runs

/// A run as lines for a log: one when a step starts, and one when it ends.
public enum PlainProgress {
    /// The text of an event, without a line break at its end; nil if there is none.
    public static func line(_ event: RunEvent) -> String? {
        switch event {
        case .began(let facts):
            let again = facts.isResumed ? ", resumed" : ""
            let steps = facts.steps.count == 1 ? "1 step" : "\(facts.steps.count) steps"
            return "run \(facts.id) of \(facts.name), \(steps)\(again)"
        case .step(let update) where update.outcome.status == .running && !update.isRestored:
            let attempt = update.attempt > 1 ? " (attempt \(update.attempt))" : ""
            let repeated = update.isRepeated ? " (repeated: it was interrupted)" : ""
            return row("starts", "\(update.key): \(update.work)\(attempt)\(repeated)")
        case .step(let update): return ended(update)
        case .output, .spread: return nil
        case .notice(let step, let message): return row("note", (step.map { "\($0): " } ?? "") + flat(message))
        case .ended(let summary): return end(summary)
        }
    }

    /// The last line, with the result.
    public static func end(_ summary: RunSummary) -> String {
        let steps = summary.steps.leaves
        var counts: [String] = []
        for status in StepStatus.allCases {
            let count = steps.count { $0.outcome.status == status }
            if count > 0 { counts.append("\(count) \(status.rawValue)") }
        }
        let took = (summary.ended - summary.started).roundedWords
        let error = summary.error.map { ": \(flat($0.message))" } ?? ""
        return "\(summary.name) \(summary.status.rawValue) in \(took), run \(summary.id): "
            + "\(counts.joined(separator: ", "))\(error)"
    }

    /// The outputs of the run, a line for each, and more for texts of several lines.
    public static func outputs(_ summary: RunSummary) -> [String] {
        summary.outputs.flatMap { name, value -> [String] in
            if value.isNull { return [] }
            // Swift sees a line break of two characters as one character.
            let lines = (value.string ?? value.text()).split(
                omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            guard lines.count > 1 else { return ["\(name): \(lines.first ?? "")"] }
            return ["\(name):"] + lines.map { $0.isEmpty ? "" : "  \($0)" }
        }
    }

    private static func ended(_ update: StepUpdate) -> String {
        let outcome = update.outcome
        var notes = [outcome.duration.roundedWords]
        if update.isRestored { notes = ["finished earlier"] }
        if update.isCached { notes.append("from cache") }
        if update.triesAgain { notes.append("will be retried") }
        if outcome.isForgiven { notes.append("allowed to fail") }
        let error = outcome.error.map { ": \(flat($0.message))" } ?? ""
        return row(outcome.status.rawValue, "\(update.key) (\(notes.joined(separator: ", ")))\(error)")
    }

    /// On one line, because a log reader such as GitHub Actions may take the beginning of a line for a command.
    private static func flat(_ message: String) -> String {
        message.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    private static func row(_ word: String, _ text: String) -> String {
        "  \(word)\(String(repeating: " ", count: max(1, 10 - word.count)))\(text)"
    }
}
