import Capabilities
import JSON
import ModelKit

/// Writes a conversation as input items: messages, and separately calls, results and reasoning.
enum InputItems {
    static func json(_ messages: [Message]) throws(DialectError) -> [JSON] {
        // Calls that the server ran are not sent back to it.
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
        // There is no other way to mark a failed result.
        let words = result.isError ? "Error: \(result.content)" : result.content
        let images = result.images.map(json)
        let output =
            images.isEmpty ? .string(words) : JSON.array([["type": "input_text", "text": .string(words)]] + images)
        return ["type": "function_call_output", "call_id": .string(result.call), "output": output]
    }

    private static func items(ofAnswer part: Message.Part) throws(DialectError) -> [JSON] {
        switch part {
        case .text(let text), .refusal(let text):
            return text.isEmpty ? [] : [["role": "assistant", "content": .string(text)]]
        case .reasoning(let reasoning): return SealedReasoning.item(reasoning).map { [$0] } ?? []
        case .call(let call): return call.isDone ? [] : [json(call.id, call.name, call.input)]
        case .malformedCall(let call): return [json(call.id, call.name, ["invalid_json": .string(call.text)])]
        case .result: return []
        case .attachment: throw .untaken("attachments in messages with the role assistant")
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
            case .call, .malformedCall: throw .untaken("calls in messages with the role \(message.role.rawValue)")
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

/// The reasoning of a model to be sent back: the whole item, with the part that only the provider can read.
/// `Reasoning.sealed` holds it as JSON.
enum SealedReasoning {
    /// Nil for an item that could not be sent back, because the server stores nothing.
    static func seal(_ item: JSONObject) -> String? {
        guard item["encrypted_content"]?.filled != nil else { return nil }
        var item = item
        // The server sends the status but does not accept it.
        item["status"] = nil
        return JSON.object(item).text()
    }

    /// Nil for reasoning of another provider.
    static func item(_ reasoning: Reasoning) -> JSON? {
        guard let sealed = reasoning.sealed, let item = try? JSON(parsing: sealed, reading: .stream),
            item["type"] == "reasoning"
        else { return nil }
        return item
    }
}
