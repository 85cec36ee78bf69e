import Capabilities
import JSON
import ModelKit

extension Message {
    init(openAI message: RequestField) throws(DialectError) {
        _ = try message.members()
        let role = try message.required("role")
        switch try role.string() {
        case "system", "developer": self.init(.system, try Self.parts(of: message.required("content")))
        case "user": self.init(.user, try Self.parts(of: message.required("content")))
        case "assistant": self.init(.assistant, try Self.assistantParts(of: message))
        case "tool":
            let call = try message.required("tool_call_id").string()
            let content = try message["content"].map { field throws(DialectError) in try Self.parts(of: field) } ?? []
            self.init(.tool, [.result(ToolResult(call: call, content: Message(.tool, content).text))])
        default: throw role.problem("has to be system, developer, user, assistant or tool")
        }
    }

    private static func assistantParts(of message: RequestField) throws(DialectError) -> [Part] {
        var parts: [Part] = []
        if let thoughts = message["reasoning_content"] ?? message["reasoning"], let text = thoughts.value.filled {
            parts.append(.reasoning(Reasoning(text)))
        }
        if let content = message["content"] { parts += try Self.parts(of: content) }
        if let refusal = message["refusal"] { parts.append(.refusal(try refusal.string())) }
        for call in try message["tool_calls"]?.elements() ?? [] { parts.append(try part(ofCall: call)) }
        return parts
    }

    private static func part(ofCall call: RequestField) throws(DialectError) -> Part {
        let id = try call.required("id").string()
        let function = try call.required("function")
        let name = try function.required("name").string()
        guard let arguments = function["arguments"] else { return .call(ToolCall(id: id, name: name, input: [:])) }
        if arguments.value.object != nil { return .call(ToolCall(id: id, name: name, input: arguments.value)) }
        let text = try arguments.string()
        if text.allSatisfy(\.isWhitespace) { return .call(ToolCall(id: id, name: name, input: [:])) }
        do {
            return .call(ToolCall(id: id, name: name, input: try JSON(parsing: text, reading: .stream)))
        } catch {
            // It was the model that wrote it, so that the client is not to blame.
            let reason = "the input is not JSON: \(error)"
            return .malformedCall(MalformedCall(id: id, name: name, text: text, reason: reason))
        }
    }

    /// Content is a text or a list of parts.
    private static func parts(of content: RequestField) throws(DialectError) -> [Part] {
        if let text = content.value.string { return text.isEmpty ? [] : [.text(text)] }
        guard content.value.array != nil else { throw content.wrong("a string or an array of parts") }
        var parts: [Part] = []
        for part in try content.elements() { parts.append(try Self.part(of: part)) }
        return parts
    }

    private static func part(of part: RequestField) throws(DialectError) -> Part {
        _ = try part.members()
        let type = try part.required("type")
        switch try type.string() {
        case "text", "input_text", "output_text": return .text(try part.required("text").string())
        case "refusal": return .refusal(try part.required("refusal").string())
        case "image_url":
            let image = try part.required("image_url")
            let uri = image.value.string == nil ? try image.required("url") : image
            return .attachment(try attachment(uri, name: "image"))
        case "file":
            let file = try part.required("file")
            let name = try file["filename"]?.string() ?? "file"
            return .attachment(try attachment(file.required("file_data"), name: name))
        default: throw type.problem("has to be text, image_url or file")
        }
    }

    private static func attachment(_ uri: RequestField, name: String) throws(DialectError) -> Attachment {
        guard let (type, bytes) = DataURI.decode(try uri.string()) else {
            throw uri.problem("has to be a data URI with base64: nothing is fetched from elsewhere")
        }
        return Attachment(name: name, mediaType: type, bytes: bytes)
    }
}
