import Capabilities
import JSON
import ModelKit

/// Writes a conversation as the items of an input: messages, and calls, their results and thoughts beside them.
enum InputItems {
    static func json(_ messages: [Message]) throws(DialectError) -> [JSON] {
        // A server that has run a call itself is not told of it again.
        let done = Set(messages.flatMap(\.calls).filter(\.isDone).map(\.id))
        var items: [JSON] = []
        for message in messages {
            for case .result(let result) in message.parts where !done.contains(result.call) {
                items.append(json(result))
            }
            if message.role == .assistant {
                for part in message.parts { items += try self.items(ofAnswer: part) }
            } else {
                let content = try self.content(of: message)
                if !content.isEmpty { items.append(["role": "user", "content": .array(content)]) }
            }
        }
        return items
    }

    private static func json(_ result: ToolResult) -> JSON {
        // There is no other word for it that it failed.
        let words = result.isError ? "Error: \(result.content)" : result.content
        return ["type": "function_call_output", "call_id": .string(result.call), "output": .string(words)]
    }

    private static func items(ofAnswer part: Message.Part) throws(DialectError) -> [JSON] {
        switch part {
        case .text(let text), .refusal(let text):
            return text.isEmpty ? [] : [["role": "assistant", "content": .string(text)]]
        case .reasoning(let reasoning): return SealedReasoning.item(reasoning).map { [$0] } ?? []
        case .call(let call): return call.isDone ? [] : [json(call.id, call.name, call.input)]
        case .malformedCall(let call): return [json(call.id, call.name, ["invalid_json": .string(call.text)])]
        case .result: return []
        case .attachment: throw .untaken("attachments in a message of the role assistant")
        }
    }

    private static func json(_ id: String, _ name: String, _ input: JSON) -> JSON {
        [
            "type": "function_call", "call_id": .string(id), "name": .string(name),
            "arguments": .string(input.text()),
        ]
    }

    private static func content(of message: Message) throws(DialectError) -> [JSON] {
        var content: [JSON] = []
        for part in message.parts {
            switch part {
            case .text(let text): if !text.isEmpty { content.append(["type": "input_text", "text": .string(text)]) }
            case .attachment(let attachment): content.append(json(attachment))
            case .call, .malformedCall: throw .untaken("calls in a message of the role \(message.role.rawValue)")
            case .reasoning, .refusal, .result: break
            }
        }
        return content
    }

    private static func json(_ attachment: Attachment) -> JSON {
        let uri = JSON.string(DataURI.encode(attachment))
        if attachment.isImage { return ["type": "input_image", "detail": "auto", "image_url": uri] }
        return ["type": "input_file", "filename": .string(attachment.name), "file_data": uri]
    }
}

/// The thoughts of a model as they have to be sent back: the whole item, with what only the provider can read.
/// `Reasoning.sealed` holds it as JSON.
enum SealedReasoning {
    /// Nil for an item that could not be sent back, as nothing is kept at the server.
    static func seal(_ item: JSONObject) -> String? {
        guard item["encrypted_content"]?.filled != nil else { return nil }
        var item = item
        // The server says how far it is, and takes no word about it.
        item["status"] = nil
        return JSON.object(item).text()
    }

    /// Nil for thoughts that are another provider's.
    static func item(_ reasoning: Reasoning) -> JSON? {
        guard let sealed = reasoning.sealed, let item = try? JSON(parsing: sealed, reading: .stream),
            item["type"] == "reasoning"
        else { return nil }
        return item
    }
}
