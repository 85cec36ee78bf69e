import Capabilities
import TurnLoop

/// Tells of tools as they end, a line each: `read README.md`, `make test → exit 0`, `edit a.py failed: no such file`.
struct ToolLines {
    /// The calls that a server does itself and has told no result of yet.
    private var open: [ToolCall] = []
    private var told: Set<String> = []

    /// The server has begun, or done, a call of its own.
    mutating func begin(_ call: ToolCall) {
        guard !told.contains(call.id), !open.contains(where: { $0.id == call.id }) else { return }
        open.append(call)
    }

    /// The line of a call that the server tells the result of; nil where it is told already, or was never heard of.
    mutating func end(_ result: ToolResult) -> String? {
        guard let index = open.firstIndex(where: { $0.id == result.call }) else { return nil }
        let call = open.remove(at: index)
        told.insert(call.id)
        return Self.line(call, result)
    }

    /// The lines of those of which nothing more will be heard: many servers tell no results. Of what was stopped nobody
    /// knows whether it was done.
    mutating func settle(isStopped: Bool = false) -> [String] {
        defer { open = [] }
        return open.map { call in
            told.insert(call.id)
            return "\(call.headline) (\(isStopped ? "stopped, perhaps not done" : "by the server"))"
        }
    }

    func hasTold(_ call: ToolCall) -> Bool { told.contains(call.id) }

    static func line(_ call: ToolCall, _ result: ToolResult, isDenied: Bool = false) -> String {
        var line = call.headline
        if isDenied {
            line += " was not allowed\(reason(result, without: "not done: ").map { ": \($0)" } ?? "")"
        } else if let code = result.exitCode {
            line += " → exit \(code)"
        } else if result.isError {
            line += " failed\(reason(result).map { ": \($0)" } ?? "")"
        }
        guard let time = result.duration, time >= .seconds(1) else { return line }
        return "\(line), \(Duration.milliseconds(time.milliseconds / 100 * 100).words)"
    }

    /// The first line of what came out, not too long.
    private static func reason(_ result: ToolResult, without prefix: String = "") -> String? {
        guard let first = result.content.split(whereSeparator: \.isNewline).first else { return nil }
        let words = first.hasPrefix(prefix) ? first.dropFirst(prefix.count) : first
        return PlainText.escape(words.count > 200 ? words.prefix(200) + "…" : String(words))
    }
}

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
