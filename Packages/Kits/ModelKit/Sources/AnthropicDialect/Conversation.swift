import Capabilities
import JSON
import ModelKit

/// A conversation in Anthropic's form: the system prompt separately, and turns of the user and the assistant.
struct Conversation {
    struct Turn {
        var role: String
        /// The results of calls, which must come first and all in one turn.
        var results: [JSONObject] = []
        var content: [JSONObject] = []

        var json: JSON {
            ["role": .string(role), "content": .array((results + content).map(JSON.object))]
        }

        var isEmpty: Bool { results.isEmpty && content.isEmpty }

        mutating func markCache() {
            if content.isEmpty {
                results[results.count - 1].markCache()
            } else {
                content[content.count - 1].markCache()
            }
        }
    }

    private(set) var system: [JSON] = []
    private(set) var turns: [Turn] = []

    init(_ messages: [Message]) throws(DialectError) {
        // Calls that the server ran are not sent back to it.
        let done = Set(messages.flatMap(\.calls).filter(\.isDone).map(\.id))
        for message in messages {
            var turn = Turn(role: message.role == .assistant ? "assistant" : "user")
            for part in message.parts {
                if case .result(let result) = part {
                    if !done.contains(result.call) { turn.results.append(ContentBlock.json(result)) }
                } else if let block = try ContentBlock.json(part, of: message.role) {
                    turn.content.append(block)
                }
            }
            if message.role == .system {
                system += turn.content.map(JSON.object)
            } else {
                append(turn)
            }
        }
    }

    /// Adds a turn, or extends the last one if it is of the same side.
    private mutating func append(_ turn: Turn) {
        guard !turn.isEmpty else { return }
        if let last = turns.last, last.role == turn.role {
            turns[turns.count - 1].results += turn.results
            turns[turns.count - 1].content += turn.content
        } else {
            turns.append(turn)
        }
    }

    /// Marks the ends of the parts that the next request will also begin with: the system prompt and the last two turns
    /// of the user. The older turn is found in the cache, the newer one goes into it. With the tools, these are four
    /// marks, which is the maximum.
    mutating func markCache() {
        if case .object(var last) = system.last {
            last.markCache()
            system[system.count - 1] = .object(last)
        }
        for place in turns.indices.filter({ turns[$0].role == "user" }).suffix(2) { turns[place].markCache() }
    }
}

extension JSONObject {
    mutating func markCache() {
        self["cache_control"] = ["type": "ephemeral"]
    }
}

/// Writes message parts as content blocks.
enum ContentBlock {
    /// Nil for parts that are not sent to a model.
    static func json(_ part: Message.Part, of role: Message.Role) throws(DialectError) -> JSONObject? {
        switch part {
        case .text(let text), .refusal(let text):
            // An empty text is refused.
            return text.allSatisfy(\.isWhitespace) ? nil : ["type": "text", "text": .string(text)]
        case .attachment(let attachment):
            guard role == .user || role == .tool else {
                throw .untaken("attachments in messages with the role \(role.rawValue)")
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
        var block: JSONObject = ["type": "tool_result", "tool_use_id": .string(result.call)]
        let images = result.parts.contains { image($0) != nil }
        block["content"] =
            images ? .array(result.parts.compactMap(json).map(JSON.object)) : .string(result.content)
        if result.isError { block["is_error"] = true }
        return block
    }

    /// Only images and text can be in a result.
    private static func json(_ part: ToolPart) -> JSONObject? {
        if let image = image(part) { return image }
        let text = part.text
        return text.allSatisfy(\.isWhitespace) ? nil : ["type": "text", "text": .string(text)]
    }

    private static func image(_ part: ToolPart) -> JSONObject? {
        guard case .media(let media) = part, images.contains(media.mediaType) else { return nil }
        return ["type": "image", "source": source("base64", media.mediaType, Base64.encode(media.bytes))]
    }

    private static let images: Set = ["image/png", "image/jpeg", "image/gif", "image/webp"]

    private static func check(_ role: Message.Role) throws(DialectError) {
        guard role == .assistant else { throw .untaken("calls in messages with the role \(role.rawValue)") }
    }

    private static func json(_ id: String, _ name: String, _ input: JSON) -> JSONObject {
        ["type": "tool_use", "id": .string(id), "name": .string(name), "input": input]
    }

    /// Reasoning is sent back unchanged. Unsigned reasoning is not the model's own and would be refused.
    private static func json(_ reasoning: Reasoning) -> JSONObject? {
        if let signature = reasoning.signature {
            return ["type": "thinking", "thinking": .string(reasoning.text), "signature": .string(signature)]
        }
        // Sealed reasoning of other providers is JSON.
        guard let sealed = reasoning.sealed, let first = sealed.first, first != "{", first != "[" else { return nil }
        return ["type": "redacted_thinking", "data": .string(sealed)]
    }

    private static func json(_ attachment: Attachment) throws(DialectError) -> JSONObject {
        let type = attachment.mediaType
        if images.contains(type) {
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
        throw .untaken("files of the type \(PlainText.excerpt(type)), such as \(name)")
    }

    private static func source(_ kind: String, _ mediaType: String, _ data: String) -> JSON {
        ["type": .string(kind), "media_type": .string(mediaType), "data": .string(data)]
    }
}
