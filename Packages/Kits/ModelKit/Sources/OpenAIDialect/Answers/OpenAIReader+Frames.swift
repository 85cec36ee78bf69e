import Capabilities
import JSON
import ModelKit

/// The frames that a gateway sends between its chunks, which are known by `object`: what tools it has used, and what
/// all of it took.
extension OpenAIReader {
    /// Whether it was one.
    mutating func takeFrame(_ object: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) -> Bool {
        switch object["object"]?.string {
        case "tool_use":
            try takeUse(object, &events)
        case "tool_result":
            try takeResult(object, &events)
        case "usage":
            // The numbers stand in the frame itself, or below a key as they do in chunks.
            take(usage: object["usage"]?.object ?? object, &events)
        // What the server asks is the affair of whoever can answer it.
        case "approval_request": break
        default: return false
        }
        return true
    }

    private mutating func takeUse(_ frame: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        begin(&events)
        let input = frame["input"]?.unlessNull ?? [:]
        let name = frame["name"]?.filled ?? "tool"
        try parts.charge(256 + input.text().utf8.count)
        guard let part = try calls.takeDone(id: frame["id"]?.filled, name: name, input: input) else { return }
        parts.add(part, &events)
    }

    private mutating func takeResult(_ frame: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        guard let call = (frame["tool_id"] ?? frame["tool_use_id"])?.filled else { return }
        begin(&events)
        var result = ToolResult(call: call, content: Self.text(of: frame["content"]))
        result.isError = frame["is_error"]?.bool ?? false
        if let time = frame["duration_ms"]?.double, time >= 0, time < 1e12 { result.duration = .milliseconds(time) }
        result.exitCode = frame["exit_code"]?.int
        try parts.charge(256 + result.content.utf8.count)
        parts.add(.result(result), &events)
    }

    private static func text(of content: JSON?) -> String {
        switch content {
        case .string(let text): text
        case .array(let blocks) where blocks.allSatisfy({ $0["text"]?.string != nil }):
            blocks.compactMap { $0["text"]?.string }.joined()
        case nil, .null: ""
        case let value?: value.text()
        }
    }
}
