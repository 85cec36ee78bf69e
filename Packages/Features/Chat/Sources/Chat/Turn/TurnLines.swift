import Capabilities
import TurnLoop

/// The line that reports a finished tool call: `read README.md`, `make test → exit 0`, `edit a.py failed: no such
/// file`.
struct ToolLines {
    /// The calls that a server runs and has not reported a result for.
    private var open: [ToolCall] = []
    private var told: Set<String> = []

    /// The server has started or finished one of its own calls.
    mutating func begin(_ call: ToolCall) {
        guard !told.contains(call.id), !open.contains(where: { $0.id == call.id }) else { return }
        open.append(call)
    }

    /// The line of a call that has a result; nil if it was reported already or is unknown.
    mutating func end(_ result: ToolResult) -> String? {
        guard let index = open.firstIndex(where: { $0.id == result.call }) else { return nil }
        let call = open.remove(at: index)
        told.insert(call.id)
        return Self.line(call, result)
    }

    /// The lines of open calls, for servers that report no results. Whether a stopped call was finished is unknown.
    mutating func settle(isStopped: Bool = false) -> [String] {
        defer { open = [] }
        return open.map { call in
            told.insert(call.id)
            return "\(call.headline) (\(isStopped ? "stopped, possibly not finished" : "by the server"))"
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

    /// The first line of the output, shortened.
    private static func reason(_ result: ToolResult, without prefix: String = "") -> String? {
        guard let first = result.content.split(whereSeparator: \.isNewline).first else { return nil }
        let words = first.hasPrefix(prefix) ? first.dropFirst(prefix.count) : first
        return PlainText.escape(String(words), limit: 200)
    }
}

/// Separates the texts of a model before and after a tool call, and between rounds.
struct Paragraphs {
    private enum Gap { case none, block, round }

    private var gap = Gap.none
    /// The end of the last shown text.
    private var tail = ""

    /// Whether the text is in the middle of a line.
    var isInLine: Bool { !tail.isEmpty && tail.last?.isNewline != true }

    /// The model is asked again.
    mutating func beginRound() { gap = .round }

    /// The server has used a tool in the middle of the answer.
    mutating func beginBlock() { if gap == .none { gap = .block } }

    /// A piece of text, with a separator before it if needed.
    mutating func take(_ text: String) -> String {
        guard !text.isEmpty else { return text }
        defer {
            gap = .none
            tail = String((tail + text).suffix(2))
        }
        guard !tail.isEmpty, let first = text.first else { return text }
        switch gap {
        case .none: return text
        // A piece that begins with a space continues the sentence.
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
    /// The whole text, with the parts between tool calls as paragraphs.
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
