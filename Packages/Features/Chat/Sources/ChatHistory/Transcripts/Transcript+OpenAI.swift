import Capabilities
import Cryptography
import JSON

/// The messages of OpenAI's chat completions: `{"model", "messages": […]}`, or the list alone.
///
/// It has no place for thoughts, states and times. Calls that a server has done itself are left out with their results,
/// for every other call wants an answer.
extension Transcript {
    var openAI: JSON {
        var messages: [JSON] = []
        if let system = setup.system { messages.append(["role": "system", "content": .string(system)]) }
        for item in path {
            if let message = item.message.sendable { messages += OpenAIMessages.json(message) }
        }
        var object = JSONObject()
        object.add("model", setup.model)
        object["messages"] = .array(messages)
        return .object(object)
    }

    init(openAI json: JSON) throws(ValueError) {
        var messages: [Message] = []
        let add = { (element: JSON) throws(ValueError) -> Message in try OpenAIMessages.message(element) }
        for message in try json.array == nil ? json.list("messages", add) : json.list(add) {
            // Answers to the calls of one message are one message here.
            if message.role == .tool, messages.last?.role == .tool {
                messages[messages.count - 1].parts += message.parts
            } else {
                messages.append(message)
            }
        }
        var setup = ConversationSetup(model: json.array == nil ? try json.optional("model") : nil)
        setup.system = messages.takeSystem()
        self.init(setup: setup, messages: messages)
    }
}

extension [Message] {
    /// Takes the instructions at the beginning out of the messages.
    mutating func takeSystem() -> String? {
        let system = prefix { $0.role == .system && $0.calls.isEmpty }
        removeFirst(system.count)
        return system.isEmpty ? nil : system.map(\.text).joined(separator: "\n\n")
    }
}

extension Message {
    /// What other programs can be given: without the calls that a server has done, and nil where nothing is left.
    var sendable: Message? {
        let done = Set(calls.filter(\.isDone).map(\.id))
        let parts = parts.filter { part in
            switch part {
            case .call(let call): !call.isDone
            case .result(let result): role == .tool || role == .user && !done.contains(result.call)
            default: true
            }
        }
        return parts.isEmpty ? nil : Message(role, parts)
    }
}

enum OpenAIMessages {
    static func json(_ message: Message) -> [JSON] {
        if message.role == .tool {
            return message.parts.compactMap { part in
                guard case .result(let result) = part else { return nil }
                return [
                    "role": "tool", "tool_call_id": .string(result.call), "content": .string(result.content),
                ]
            }
        }
        var object: JSONObject = ["role": message.role.json]
        let contents = message.parts.compactMap(content)
        let isText = message.parts.allSatisfy { if case .attachment = $0 { false } else { true } }
        object["content"] = isText ? (contents.isEmpty ? .null : .string(message.text)) : .array(contents)
        let refusals = message.parts.compactMap { if case .refusal(let text) = $0 { text } else { nil } }
        if !refusals.isEmpty { object["refusal"] = .string(refusals.joined()) }
        let calls = message.parts.compactMap(call)
        if !calls.isEmpty { object["tool_calls"] = .array(calls) }
        return [.object(object)]
    }

    private static func content(_ part: Message.Part) -> JSON? {
        switch part {
        case .text(let text): return ["type": "text", "text": .string(text)]
        case .attachment(let attachment):
            let url = "data:\(attachment.mediaType);base64,\(Base64.encode(attachment.bytes))"
            return attachment.isImage
                ? ["type": "image_url", "image_url": ["url": .string(url)]]
                : ["type": "file", "file": ["filename": .string(attachment.name), "file_data": .string(url)]]
        default: return nil
        }
    }

    private static func call(_ part: Message.Part) -> JSON? {
        func json(_ id: String, _ name: String, _ arguments: String) -> JSON {
            [
                "id": .string(id), "type": "function",
                "function": ["name": .string(name), "arguments": .string(arguments)],
            ]
        }
        switch part {
        case .call(let call): return json(call.id, call.name, call.input.text())
        case .malformedCall(let call): return json(call.id, call.name, call.text)
        default: return nil
        }
    }
}
