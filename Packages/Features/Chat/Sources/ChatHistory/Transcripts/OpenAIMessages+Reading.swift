import Capabilities
import Cryptography
import JSON

extension OpenAIMessages {
    static func message(_ json: JSON) throws(ValueError) -> Message {
        let word: String = try json.member("role")
        let roles: [String: Message.Role] = [
            "system": .system, "developer": .system, "user": .user, "assistant": .assistant, "tool": .tool,
        ]
        guard let role = roles[word] else {
            throw ValueError("is no role that is known: \(word.quotedForMessage)", at: ["role"])
        }
        var parts = try contents(json)
        if role == .tool {
            let text = Message(role, parts).text
            return Message(.tool, [.result(ToolResult(call: try json.member("tool_call_id"), content: text))])
        }
        if let refusal: String = try json.optional("refusal"), !refusal.isEmpty { parts.append(.refusal(refusal)) }
        if let calls: [JSON] = try json.optional("tool_calls"), !calls.isEmpty {
            guard role == .assistant else {
                throw ValueError("belong to messages of the assistant only", at: ["tool_calls"])
            }
            parts += try json.list("tool_calls", call)
        }
        return Message(role, parts)
    }

    private static func contents(_ json: JSON) throws(ValueError) -> [Message.Part] {
        switch json["content"] {
        case nil, .null?: return []
        case .string(let text)?: return text.isEmpty ? [] : [.text(text)]
        default: return try json.list("content", part)
        }
    }

    private static func part(_ json: JSON) throws(ValueError) -> Message.Part {
        let type: String = try json.member("type")
        switch type {
        case "text", "input_text", "output_text": return .text(try json.member("text"))
        case "refusal": return .refusal(try json.member("refusal"))
        case "image_url":
            let image: JSON = try json.member("image_url")
            let url: String = try image.member("url")
            return dataURL(url, name: "image").map(Message.Part.attachment) ?? .text("[image: \(url)]")
        case "file":
            let file: JSON = try json.member("file")
            let name: String = try file.optional("filename") ?? "file"
            guard let data: String = try file.optional("file_data") else {
                return .text("[file: \(try file.optional("file_id") ?? name)]")
            }
            guard let attachment = dataURL(data, name: name) else {
                throw ValueError("is no data URL in base64", at: ["file", "file_data"])
            }
            return .attachment(attachment)
        default: throw ValueError("is no kind of content that is known: \(type.quotedForMessage)", at: ["type"])
        }
    }

    private static func call(_ json: JSON) throws(ValueError) -> Message.Part {
        let id: String = try json.member("id")
        let function: JSON = try json.member("function")
        do {
            let name: String = try function.member("name")
            let text: String = try function.optional("arguments") ?? ""
            return Self.call(id, name, text)
        } catch {
            throw error.under("function")
        }
    }

    private static func call(_ id: String, _ name: String, _ text: String) -> Message.Part {
        do {
            // Some servers send nothing where there is no argument.
            return .call(
                ToolCall(id: id, name: name, input: text.isEmpty ? [:] : try JSON(parsing: text, reading: .deep)))
        } catch {
            return .malformedCall(MalformedCall(id: id, name: name, text: text, reason: error.description))
        }
    }

    /// The contents of `data:image/png;base64,…`; nil for any other address.
    private static func dataURL(_ url: String, name: String) -> Attachment? {
        guard url.hasPrefix("data:"), let comma = url.firstIndex(of: ",") else { return nil }
        let head = url[..<comma].dropFirst("data:".count)
        guard head.hasSuffix(";base64"), let bytes = Base64.decode(url[url.index(after: comma)...]) else { return nil }
        let type = head.dropLast(";base64".count)
        return Attachment(
            name: name, mediaType: type.isEmpty ? "application/octet-stream" : String(type), bytes: bytes)
    }
}
