import Capabilities
import Cryptography
import JSON
import ModelKit

/// Writes the parts of messages as blocks of content.
enum ContentBlock {
    /// Nil for what a model is not told.
    static func json(_ part: Message.Part, of role: Message.Role) throws(DialectError) -> JSONObject? {
        switch part {
        case .text(let text), .refusal(let text):
            // A text without anything in it is refused.
            return text.allSatisfy(\.isWhitespace) ? nil : ["type": "text", "text": .string(text)]
        case .attachment(let attachment):
            guard role == .user || role == .tool else {
                throw .untaken("attachments in a message of the role \(role.rawValue)")
            }
            return try json(attachment)
        case .reasoning(let reasoning): return role == .assistant ? json(reasoning) : nil
        case .call(let call):
            try check(role)
            return call.isDone ? nil : json(call.id, call.name, call.input)
        case .malformedCall(let call):
            try check(role)
            return json(call.id, call.name, ["invalid_json": .string(call.text)])
        case .result(let result): return json(result)
        }
    }

    static func json(_ result: ToolResult) -> JSONObject {
        var block: JSONObject = [
            "type": "tool_result", "tool_use_id": .string(result.call), "content": .string(result.content),
        ]
        if result.isError { block["is_error"] = true }
        return block
    }

    private static func check(_ role: Message.Role) throws(DialectError) {
        guard role == .assistant else { throw .untaken("calls in a message of the role \(role.rawValue)") }
    }

    private static func json(_ id: String, _ name: String, _ input: JSON) -> JSONObject {
        ["type": "tool_use", "id": .string(id), "name": .string(name), "input": input]
    }

    /// Thoughts go back exactly as they came. Those that nothing proves are not the model's own, and are refused.
    private static func json(_ reasoning: Reasoning) -> JSONObject? {
        if let signature = reasoning.signature {
            return ["type": "thinking", "thinking": .string(reasoning.text), "signature": .string(signature)]
        }
        // What other providers have sealed is JSON.
        guard let sealed = reasoning.sealed, let first = sealed.first, first != "{", first != "[" else { return nil }
        return ["type": "redacted_thinking", "data": .string(sealed)]
    }

    private static func json(_ attachment: Attachment) throws(DialectError) -> JSONObject {
        let type = attachment.mediaType
        if ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(type) {
            return ["type": "image", "source": source("base64", type, Base64.encode(attachment.bytes))]
        }
        let title = JSON.string(attachment.name)
        if type == "application/pdf" {
            let source = source("base64", type, Base64.encode(attachment.bytes))
            return ["type": "document", "source": source, "title": title]
        }
        if type.hasPrefix("text/") || type == "application/json",
            let text = String(validating: attachment.bytes, as: UTF8.self)
        {
            return ["type": "document", "source": source("text", "text/plain", text), "title": title]
        }
        let name = PlainText.excerpt(attachment.name)
        throw .untaken("files of the type \(PlainText.excerpt(type)), and \(name) is one")
    }

    private static func source(_ kind: String, _ mediaType: String, _ data: String) -> JSON {
        ["type": .string(kind), "media_type": .string(mediaType), "data": .string(data)]
    }
}
