import Capabilities
import JSON
import Runs

/// What steps said, as a person reads it: a heading where another step speaks, pieces of an answer as one text, and
/// everything else as a line.
struct LogText {
    private var step: String?
    private var isInLine = false

    /// The text for an event, or nil for one that a person has no use for.
    mutating func take(_ event: JournalEvent, at time: String) -> String? {
        guard let words = Self.words(event.event) else { return nil }
        var text = ""
        if step != event.step {
            text = end() ?? ""
            text += (step == nil ? "" : "\n") + "\(PlainText.escape(event.step)) · \(time)\n"
            step = event.step
        }
        if !words.isPiece {
            text += end() ?? ""
            return text + words.text + "\n"
        }
        text += words.text
        isInLine = text.last?.isNewline == false
        return text
    }

    /// Ends the line of a text that did not end it.
    private mutating func end() -> String? { exchange(&isInLine, with: false) ? "\n" : nil }

    private static func words(_ event: JSON) -> (text: String, isPiece: Bool)? {
        for name in ["delta", "refusal"] {
            guard event["type"] == "message", let text = event[name]?.string else { continue }
            return text.isEmpty ? nil : (text, true)
        }
        switch event["type"]?.string {
        // Thoughts are not part of the answer, and the step's output names the model.
        case "reasoning", "init", "tool_output": return nil
        case "tool_use": return ("used \(event["name"]?.string ?? "a tool")", false)
        case "tool_result":
            guard event["is_error"]?.bool == true else { return nil }
            return ("failed: \(event["content"]?.string ?? "")", false)
        case let type:
            if let text = event["text"]?.string ?? event["message"]?.string { return (text, false) }
            let others = (event.object ?? [:]).filter { $0.key != "type" }
            let facts = others.map { "\($0.key) \($0.value.string ?? $0.value.text())" }
            return (([type ?? ""] + facts).filter { !$0.isEmpty }.joined(separator: ", "), false)
        }
    }
}
