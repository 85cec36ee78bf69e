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
