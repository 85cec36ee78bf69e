import Capabilities
import JSON

/// The message format of Anthropic: `{"model", "system", "messages": […]}`.
///
/// Results are in user messages, and neighbouring messages of one role are merged.
extension Transcript {
    var anthropic: JSON {
        var system = setup.system.map { [$0] } ?? []
        var messages: [(role: String, content: [JSON])] = []
        for message in path.map(\.message).withCommandsAsText.compactMap(\.sendable) {
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
            // Only an object is allowed here, so the model's text is wrapped in one.
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

    /// Unsigned thoughts of other providers are not accepted there.
    private static func json(_ thought: Reasoning) -> JSON? {
        if let sealed = thought.sealed { return ["type": "redacted_thinking", "data": .string(sealed)] }
        guard let signature = thought.signature else { return nil }
        return ["type": "thinking", "thinking": .string(thought.text), "signature": .string(signature)]
    }
}

extension AnthropicMessages {
    /// A message, preceded by the results of calls that it contains.
    static func messages(_ json: JSON) throws(ValueError) -> [Message] {
        let word: String = try json.member("role")
        guard let role = Message.Role(rawValue: word), role == .user || role == .assistant else {
            throw ValueError("must be user or assistant, not \(word.quotedForMessage)", at: ["role"])
        }
        if case .string(let text)? = json["content"] { return [Message(role, text)] }
        let parts = try json.list("content", part)
        guard role == .user else { return [Message(role, parts)] }
        let results = parts.filter { if case .result = $0 { true } else { false } }
        let others = parts.filter { if case .result = $0 { false } else { true } }
        return [Message(.tool, results), Message(role, others)].filter { !$0.parts.isEmpty }
    }

    private static func part(_ json: JSON) throws(ValueError) -> Message.Part {
        let type: String = try json.member("type")
        switch type {
        case "text": return .text(try json.member("text"))
        case "thinking":
            return .reasoning(Reasoning(try json.member("thinking"), signature: try json.optional("signature")))
        case "redacted_thinking": return .reasoning(Reasoning("", sealed: try json.member("data")))
        case "image", "document": return try attachment(json, type)
        case "tool_use":
            return .call(
                ToolCall(id: try json.member("id"), name: try json.member("name"), input: json["input"] ?? [:]))
        case "tool_result":
            return .result(
                ToolResult(
                    call: try json.member("tool_use_id"), content: try resultText(json),
                    isError: try json.optional("is_error") ?? false))
        default: throw ValueError("is an unknown kind of block: \(type.quotedForMessage)", at: ["type"])
        }
    }

    private static func attachment(_ json: JSON, _ type: String) throws(ValueError) -> Message.Part {
        let source: JSON = try json.member("source")
        let title: String? = try json.optional("title")
        do throws(ValueError) {
            let kind: String = try source.member("type")
            guard kind == "base64" else {
                let url: String? = try source.optional("url")
                let text: String? = try source.optional("data")
                return .text(text ?? "[\(type): \(url ?? "elsewhere")]")
            }
            let text: String = try source.member("data")
            guard let bytes = Base64.decode(text) else { throw ValueError("is not valid base64", at: ["data"]) }
            let mediaType: String = try source.member("media_type")
            return .attachment(Attachment(name: title ?? type, mediaType: mediaType, bytes: bytes))
        } catch {
            throw error.under("source")
        }
    }

    private static func resultText(_ json: JSON) throws(ValueError) -> String {
        switch json["content"] {
        case nil, .null?: return ""
        case .string(let text)?: return text
        default:
            let texts = try json.list("content") { (block) throws(ValueError) -> String in
                let text: String? = try block.optional("text")
                let type: String = try block.member("type")
                return text ?? "[\(type)]"
            }
            return texts.joined(separator: "\n")
        }
    }
}
