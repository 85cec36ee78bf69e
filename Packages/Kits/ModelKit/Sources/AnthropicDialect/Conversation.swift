import Capabilities
import Cryptography
import JSON
import ModelKit

/// A conversation as Anthropic wants it: what the system says apart, and turns of the user and the assistant.
struct Conversation {
    struct Turn {
        var role: String
        /// The results of calls, which have to come first and all in one turn.
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
        // A server that has run a call itself is not told of it again.
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

    /// Adds a turn, or goes on with the last one if that is the same side's.
    private mutating func append(_ turn: Turn) {
        guard !turn.isEmpty else { return }
        if let last = turns.last, last.role == turn.role {
            turns[turns.count - 1].results += turn.results
            turns[turns.count - 1].content += turn.content
        } else {
            turns.append(turn)
        }
    }

    /// Marks the end of what the next request will begin with too: what the system says, and the last two turns of the
    /// user. The older of those is found again in the cache, the newer goes into it. With the tools that makes four
    /// marks, which is the most.
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
