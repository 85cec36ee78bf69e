import Capabilities
import JSON

/// The message format of OpenAI's Chat Completions: `{"model", "messages": […]}`, or the list alone.
///
/// It has no place for reasoning, states and times. Calls that a server ran are left out with their results, because
/// every call in this format needs an answer.
extension Transcript {
    var openAI: JSON {
        var messages: [JSON] = []
        if let system = setup.system { messages.append(["role": "system", "content": .string(system)]) }
        for message in path.map(\.message).withCommandsAsText.compactMap(\.sendable) {
            messages += OpenAIMessages.json(message)
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
            // The results of the calls of one message are one message here.
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
    /// Moves the system messages at the beginning out of the messages.
    mutating func takeSystem() -> String? {
        let system = prefix { $0.role == .system && $0.calls.isEmpty }
        removeFirst(system.count)
        return system.isEmpty ? nil : system.map(\.text).joined(separator: "\n\n")
    }
}

extension Message {
    /// The message for other programs, without the calls that a server ran; nil if nothing remains.
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

extension OpenAIMessages {
    static func message(_ json: JSON) throws(ValueError) -> Message {
        let word: String = try json.member("role")
        let roles: [String: Message.Role] = [
            "system": .system, "developer": .system, "user": .user, "assistant": .assistant, "tool": .tool,
        ]
        guard let role = roles[word] else {
            throw ValueError("is an unknown role: \(word.quotedForMessage)", at: ["role"])
        }
        var parts = try contents(json)
        if role == .tool {
            let text = Message(role, parts).text
            return Message(.tool, [.result(ToolResult(call: try json.member("tool_call_id"), content: text))])
        }
        if let refusal: String = try json.optional("refusal"), !refusal.isEmpty { parts.append(.refusal(refusal)) }
        if let calls: [JSON] = try json.optional("tool_calls"), !calls.isEmpty {
            guard role == .assistant else {
                throw ValueError("are only allowed in messages of the assistant", at: ["tool_calls"])
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
                throw ValueError("is not a data URL in base64", at: ["file", "file_data"])
            }
            return .attachment(attachment)
        default: throw ValueError("is an unknown kind of content: \(type.quotedForMessage)", at: ["type"])
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
            // Some servers send nothing for a call without arguments.
            return .call(
                ToolCall(id: id, name: name, input: text.isEmpty ? [:] : try JSON(parsing: text, reading: .deep)))
        } catch {
            return .malformedCall(MalformedCall(id: id, name: name, text: text, reason: error.description))
        }
    }

    /// The contents of `data:image/png;base64,…`; nil for any other URL.
    private static func dataURL(_ url: String, name: String) -> Attachment? {
        guard url.hasPrefix("data:"), let comma = url.firstIndex(of: ",") else { return nil }
        let head = url[..<comma].dropFirst("data:".count)
        guard head.hasSuffix(";base64"), let bytes = Base64.decode(url[url.index(after: comma)...]) else { return nil }
        let type = head.dropLast(";base64".count)
        return Attachment(
            name: name, mediaType: type.isEmpty ? "application/octet-stream" : String(type), bytes: bytes)
    }
}
