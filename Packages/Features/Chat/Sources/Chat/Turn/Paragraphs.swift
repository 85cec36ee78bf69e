import Capabilities

/// Keeps apart on the screen what a model says before and after it used a tool, or was asked again.
struct Paragraphs {
    private enum Gap { case none, block, round }

    private var gap = Gap.none
    /// How the text ends that was shown last.
    private var tail = ""

    /// Whether the text has not ended its line.
    var isInLine: Bool { !tail.isEmpty && tail.last?.isNewline != true }

    /// The model is asked again.
    mutating func beginRound() { gap = .round }

    /// The server has used a tool in the midst of the answer.
    mutating func beginBlock() { if gap == .none { gap = .block } }

    /// A piece of text with what sets it apart from what was said before.
    mutating func take(_ text: String) -> String {
        guard !text.isEmpty else { return text }
        defer {
            gap = .none
            tail = String((tail + text).suffix(2))
        }
        guard !tail.isEmpty, let first = text.first else { return text }
        switch gap {
        case .none: return text
        // A piece that begins with a space goes on with the sentence before.
        case .block where first.isWhitespace || tail.last?.isNewline == true: return text
        case .block, .round: return separator(before: text) + text
        }
    }

    private func separator(before text: String) -> String {
        let breaks = tail.reversed().prefix { $0.isNewline }.count + text.prefix { $0.isNewline }.count
        return String(repeating: "\n", count: max(0, 2 - breaks))
    }
}

extension Message {
    /// All its text, with the blocks that tools stand between as paragraphs.
    var blocks: String {
        var (text, paragraphs) = ("", Paragraphs())
        for part in parts {
            switch part {
            case .text(let piece): text += paragraphs.take(piece)
            case .call, .result, .malformedCall: paragraphs.beginBlock()
            case .reasoning, .refusal, .attachment: break
            }
        }
        return text
    }
}
