import Capabilities
import Cryptography
import JSON

/// The messages of Anthropic: `{"model", "system", "messages": […]}`.
///
/// Results stand in messages of the user there, and neighbours of one role are one message.
extension Transcript {
    var anthropic: JSON {
        var system = setup.system.map { [$0] } ?? []
        var messages: [(role: String, content: [JSON])] = []
        for message in path.compactMap(\.message.sendable) {
            if message.role == .system {
                system.append(message.text)
                continue
            }
            let role = message.role == .assistant ? "assistant" : "user"
            let content = message.parts.compactMap(AnthropicMessages.json)
            if content.isEmpty { continue }
            if messages.last?.role == role {
                messages[messages.count - 1].content += content
            } else {
                messages.append((role, content))
            }
        }
        var object = JSONObject()
        object.add("model", setup.model)
        if !system.isEmpty { object["system"] = .string(system.joined(separator: "\n\n")) }
        object["messages"] = .array(messages.map { ["role": .string($0.role), "content": .array($0.content)] })
        return .object(object)
    }

    init(anthropic json: JSON) throws(ValueError) {
        var setup = ConversationSetup(model: try json.optional("model"))
        switch json["system"] {
        case nil, .null?: break
        case .string(let text)?: setup.system = text
        default:
            let texts = try json.list("system") { (block) throws(ValueError) -> String in try block.member("text") }
            setup.system = texts.joined(separator: "\n\n")
        }
        let messages = try json.list("messages", AnthropicMessages.messages).flatMap { $0 }
        self.init(setup: setup, messages: messages)
    }
}

enum AnthropicMessages {
    static func json(_ part: Message.Part) -> JSON? {
        switch part {
        case .text(let text), .refusal(let text): return text.isEmpty ? nil : ["type": "text", "text": .string(text)]
        case .reasoning(let thought): return json(thought)
        case .attachment(let attachment):
            var object: JSONObject = [
                "type": attachment.isImage ? "image" : "document",
                "source": [
                    "type": "base64", "media_type": .string(attachment.mediaType),
                    "data": .string(Base64.encode(attachment.bytes)),
                ],
            ]
            if !attachment.isImage { object["title"] = .string(attachment.name) }
            return .object(object)
        case .call(let call):
            let input = call.input.object == nil ? ["input": call.input] : call.input
            return ["type": "tool_use", "id": .string(call.id), "name": .string(call.name), "input": input]
        case .malformedCall(let call):
            // Only an object may stand here; what the model wrote is kept in one.
            let input: JSON = ["malformed": .string(call.text)]
            return ["type": "tool_use", "id": .string(call.id), "name": .string(call.name), "input": input]
        case .result(let result):
            var object: JSONObject = [
                "type": "tool_result", "tool_use_id": .string(result.call), "content": .string(result.content),
            ]
            if result.isError { object["is_error"] = true }
            return .object(object)
        }
    }

    /// Thoughts of others, which have no signature, are not taken there.
    private static func json(_ thought: Reasoning) -> JSON? {
        if let sealed = thought.sealed { return ["type": "redacted_thinking", "data": .string(sealed)] }
        guard let signature = thought.signature else { return nil }
        return ["type": "thinking", "thinking": .string(thought.text), "signature": .string(signature)]
    }
}
