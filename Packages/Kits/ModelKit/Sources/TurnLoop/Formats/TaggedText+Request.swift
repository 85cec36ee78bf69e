public import Capabilities
import JSON

extension TaggedText {
    public func request(_ request: ChatRequest) -> ChatRequest {
        var request = request
        var messages = Self.messages(of: request.messages)
        if !request.tools.isEmpty {
            let prompt = Self.prompt(request.tools)
            if let first = messages.first, first.role == .system {
                messages[0] = Message(.system, first.parts + [.text("\n\n" + prompt)])
            } else {
                messages.insert(Message(.system, prompt), at: 0)
            }
            // A model that goes on with a result of its own making is stopped. Four is what servers take at most.
            if request.options.stop.count < 4 { request.options.stop.append("<tool_result>") }
        }
        request.messages = messages
        request.tools = []
        return request
    }

    private static func prompt(_ tools: [ToolDescription]) -> String {
        let described = tools.map { tool in
            element(
                "tool",
                ["name": .string(tool.name), "description": .string(tool.summary), "input_schema": tool.input])
        }
        return """
            You can use tools. Each one is described here, with the JSON Schema of its arguments:

            \(described.joined(separator: "\n"))

            To use a tool, write exactly this, with the arguments as JSON:

            <tool_call>{"name": "the tool's name", "arguments": {}}</tool_call>

            Several calls may follow each other. Write them outside of code blocks and quotes, and end your answer after \
            the last one. The results are given to you in <tool_result> elements, in the order of the calls. Never write a \
            <tool_result> yourself. When you need no tool, just answer.
            """
    }

    /// Calls and results as text. Results are what the user says then.
    private static func messages(of history: [Message]) -> [Message] {
        var names: [String: String] = [:]
        var messages: [Message] = []
        var endsWithResults = false
        for message in history {
            for call in message.openCalls { names[call.id] = call.name }
            switch message.role {
            case .assistant: messages.append(Message(.assistant, message.parts.reduce(into: []) { add($1, to: &$0) }))
            case .tool:
                messages.append(
                    Message(
                        .user,
                        message.parts.map { part in
                            guard case .result(let result) = part else { return part }
                            return .text(text(of: result, names[result.call]) + "\n")
                        }))
            case .user where endsWithResults:
                // Some models' templates want the roles to alternate.
                messages[messages.count - 1].parts += message.parts
            default: messages.append(message)
            }
            endsWithResults = message.role == .tool
        }
        return messages
    }

    private static func add(_ part: Message.Part, to parts: inout [Message.Part]) {
        let tag: String
        switch part {
        case .call(let call) where !call.isDone:
            tag = element("tool_call", ["name": .string(call.name), "arguments": call.input])
        case .malformedCall(let call): tag = "<tool_call>\(call.text)</tool_call>"
        default:
            parts.append(part)
            return
        }
        guard case .text(let text)? = parts.last else { return parts.append(.text(tag)) }
        parts[parts.count - 1] = .text(text.hasSuffix("\n") ? text + tag : "\(text)\n\(tag)")
    }

    private static func text(of result: ToolResult, _ name: String?) -> String {
        var content: JSONObject = [:]
        if let name { content["name"] = .string(name) }
        if result.isError { content["is_error"] = true }
        content["content"] = .string(result.content)
        return element("tool_result", content)
    }

    /// JSON inside of a tag. A closing tag in the JSON would end the element; it can only stand in a string, where a
    /// slash may be escaped.
    private static func element(_ tag: String, _ content: JSONObject) -> String {
        let json = JSON.object(content).text().split(separator: "</", omittingEmptySubsequences: false)
        return "<\(tag)>\(json.joined(separator: "<\\/"))</\(tag)>"
    }
}
