import Capabilities
import JSON

/// The blocks of tools that Anthropic's servers run themselves, such as a search of the web. Their clients want to see them,
/// and send them back with what they found. They are known by the ids that only Anthropic gives.
struct ServerTools: Sendable {
    /// The names of the tools that were called, by the call.
    private var names: [String: String] = [:]

    /// The block of a part; nil for what is of no such tool.
    mutating func block(_ part: Message.Part) -> JSONObject? {
        switch part {
        case .call(let call) where call.isDone && call.id.hasPrefix("srvtoolu_"):
            names[call.id] = call.name
            return ["type": "server_tool_use", "id": .string(call.id), "name": .string(call.name), "input": call.input]
        case .result(let result):
            guard let name = names[result.call] else { return nil }
            return [
                "type": .string(name + "_tool_result"), "tool_use_id": .string(result.call),
                "content": Self.content(of: result),
            ]
        default: return nil
        }
    }

    /// As the server wrote it.
    private static func content(of result: ToolResult) -> JSON {
        do {
            return try JSON(parsing: Array(result.content.utf8), reading: .stream)
        } catch {
            return .string(result.content)
        }
    }
}
