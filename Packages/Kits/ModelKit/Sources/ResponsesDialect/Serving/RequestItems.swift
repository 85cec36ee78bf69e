import Capabilities
import JSON
import ModelKit

/// Reads the input of a request: a text, or items, of which those of one side that follow each other are one message.
enum RequestItems {
    static func messages(of input: RequestField) throws(DialectError) -> [Message] {
        if let text = input.value.string {
            if text.isEmpty { throw input.problem("is empty") }
            return [Message(.user, text)]
        }
        guard input.value.array != nil else { throw input.wrong("a string or an array of items") }
        var messages: [Message] = []
        for item in try input.elements() {
            let message = try message(of: item)
            if let last = messages.last, last.role == message.role, last.role != .user, last.role != .system {
                messages[messages.count - 1].parts += message.parts
            } else {
                messages.append(message)
            }
        }
        guard !messages.isEmpty else { throw input.problem("has no item") }
        return messages
    }

    private static func message(of item: RequestField) throws(DialectError) -> Message {
        _ = try item.members()
        // A message need not say that it is one.
        guard let type = item["type"], try type.string() != "message" else { return try spoken(item) }
        switch try type.string() {
        case "function_call":
            let name = try item.required("name").string()
            let text = try item["arguments"]?.string() ?? ""
            return Message(
                .assistant, [CallInput.part(id: try item.required("call_id").string(), name: name, text: text)])
        case "function_call_output":
            let content = try item["output"].map { field throws(DialectError) in try parts(of: field) } ?? []
            let call = try item.required("call_id").string()
            let attachments = content.filter { if case .attachment = $0 { true } else { false } }
            let result = ToolResult(call: call, content: Message(.tool, content).text)
            return Message(.tool, [.result(result)] + attachments)
        case "reasoning": return Message(.assistant, [.reasoning(try reasoning(item))])
        default: throw type.problem("has to be message, function_call, function_call_output or reasoning")
        }
    }

    private static func spoken(_ item: RequestField) throws(DialectError) -> Message {
        let role = try item.required("role")
        let parts = try parts(of: item.required("content"))
        switch try role.string() {
        case "system", "developer": return Message(.system, parts)
        case "user": return Message(.user, parts)
        case "assistant": return Message(.assistant, parts)
        default: throw role.problem("has to be system, developer, user or assistant")
        }
    }

    private static func reasoning(_ item: RequestField) throws(DialectError) -> Reasoning {
        var texts: [String] = []
        for text in try item["summary"]?.elements() ?? [] { texts.append(try text.required("text").string()) }
        let sealed = try SealedReasoning.seal(item.members())
        return Reasoning(texts.joined(separator: "\n\n"), sealed: sealed)
    }

    private static func parts(of content: RequestField) throws(DialectError) -> [Message.Part] {
        if let text = content.value.string { return text.isEmpty ? [] : [.text(text)] }
        guard content.value.array != nil else { throw content.wrong("a string or an array of parts") }
        var parts: [Message.Part] = []
        for part in try content.elements() { parts.append(try Self.part(of: part)) }
        return parts
    }

    private static func part(of part: RequestField) throws(DialectError) -> Message.Part {
        _ = try part.members()
        let type = try part.required("type")
        switch try type.string() {
        case "input_text", "output_text", "text": return .text(try part.required("text").string())
        case "refusal": return .refusal(try part.required("refusal").string())
        case "input_image": return .attachment(try attachment(part.required("image_url"), name: "image"))
        case "input_file":
            let name = try part["filename"]?.string() ?? "file"
            return .attachment(try attachment(part.required("file_data"), name: name))
        default: throw type.problem("has to be input_text, input_image, input_file or output_text")
        }
    }

    private static func attachment(_ uri: RequestField, name: String) throws(DialectError) -> Attachment {
        guard let (type, bytes) = DataURI.decode(try uri.string()) else {
            throw uri.problem("has to be a data URI with base64: nothing is fetched from elsewhere")
        }
        return Attachment(name: name, mediaType: type, bytes: bytes)
    }
}
