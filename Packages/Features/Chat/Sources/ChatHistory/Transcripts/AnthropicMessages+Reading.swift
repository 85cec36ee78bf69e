import Capabilities
import Cryptography
import JSON

extension AnthropicMessages {
    /// A message, and before it the answers to calls that it holds.
    static func messages(_ json: JSON) throws(ValueError) -> [Message] {
        let word: String = try json.member("role")
        guard let role = Message.Role(rawValue: word), role == .user || role == .assistant else {
            throw ValueError("needs to be user or assistant, not \(word.quotedForMessage)", at: ["role"])
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
        default: throw ValueError("is no kind of block that is known: \(type.quotedForMessage)", at: ["type"])
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
            guard let bytes = Base64.decode(text) else { throw ValueError("is no base64", at: ["data"]) }
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
