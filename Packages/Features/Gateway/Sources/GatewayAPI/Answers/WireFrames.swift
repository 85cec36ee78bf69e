import Capabilities
import GatewayTurns
import JSON

/// A tool that was used, in streams of the rich dialect and in histories.
struct WireCall {
    let call: ToolCall

    var json: JSON {
        [
            "object": "tool_use", "type": "tool_use", "id": .string(call.id), "name": .string(call.name),
            "input": call.input,
        ]
    }
}

/// What came of it.
struct WireResult {
    let result: ToolResult
    let name: String?

    var json: JSON {
        var object: JSONObject = ["object": "tool_result", "type": "tool_result", "tool_id": .string(result.call)]
        object["name"] = name.map(JSON.string)
        object["is_error"] = .bool(result.isError)
        object["duration_ms"] = result.duration.map { .int(Int($0 / .milliseconds(1))) }
        object["exit_code"] = result.exitCode.map(JSON.int)
        object["content"] = .string(result.content)
        return .object(object)
    }
}

/// Frames of the rich dialect that no other server has.
enum WireFrame {
    /// Where a turn takes place: for clients that cannot read the headers of an answer.
    static func place(_ place: TurnPlace) -> JSONObject {
        var frame: JSONObject = ["object": "session", "model": .string(place.name)]
        frame["session_id"] = place.session.map(JSON.string)
        frame["project_id"] = place.project.map(JSON.string)
        return frame
    }

    /// More of what a tool prints while it runs.
    static func output(_ call: String, _ text: String) -> JSONObject {
        ["object": "tool_output", "tool_id": .string(call), "content": .string(text)]
    }

    static func notice(_ text: String) -> JSONObject {
        ["object": "notice", "message": .string(text)]
    }
}
