import Capabilities
import Cryptography
import JSON
import ModelKit

/// Reads the messages of a request.
struct RequestBlocks {
    /// Where something stands that only servers of this dialect understand.
    private(set) var foreign: [String] = []
    /// Where something stands that servers of other dialects are not given, and that the client is told of.
    private(set) var dropped: [String] = []

    /// What stands in one message. The results of calls come as a message of their own, as tools and not the user wrote
    /// them.
    mutating func messages(of field: RequestField) throws(DialectError) -> [Message] {
        _ = try field.members()
        let role = try field.required("role")
        let content = try parts(of: field.required("content"))
        switch try role.string() {
        case "system": return [Message(.system, content)]
        case "assistant": return [Message(.assistant, content)]
        case "user":
            let results = content.filter { if case .result = $0 { true } else { false } }
            let rest = content.filter { if case .result = $0 { false } else { true } }
            return [Message(.tool, results), Message(.user, rest)].filter { !$0.parts.isEmpty }
        default: throw role.problem("has to be user or assistant")
        }
    }

    /// The text of content in which nothing else may stand.
    static func text(of content: RequestField) throws(DialectError) -> String {
        if let text = content.value.string { return text }
        guard content.value.array != nil else { throw content.wrong("a string or an array of blocks") }
        var texts: [String] = []
        for block in try content.elements() {
            let type = try block.required("type")
            guard try type.string() == "text" else { throw type.problem("has to be text") }
            texts.append(try block.required("text").string())
        }
        return texts.joined(separator: "\n\n")
    }

    private mutating func parts(of content: RequestField) throws(DialectError) -> [Message.Part] {
        if let text = content.value.string { return text.isEmpty ? [] : [.text(text)] }
        guard content.value.array != nil else { throw content.wrong("a string or an array of blocks") }
        var parts: [Message.Part] = []
        for block in try content.elements() { parts += try self.parts(ofBlock: block) }
        return parts
    }

    private mutating func parts(ofBlock block: RequestField) throws(DialectError) -> [Message.Part] {
        _ = try block.members()
        let type = try block.required("type")
        switch try type.string() {
        case "text":
            if let citations = block["citations"], try !citations.elements().isEmpty {
                dropped.append(citations.path)
            }
            return [.text(try block.required("text").string())]
        case "image", "document": return try attachment(block).map { [$0] } ?? []
        case "thinking":
            let text = try block.required("thinking").string()
            return [.reasoning(Reasoning(text, signature: block["signature"]?.value.filled))]
        case "redacted_thinking": return [.reasoning(Reasoning("", sealed: try block.required("data").string()))]
        case "tool_use":
            let input = JSON.object(try block["input"]?.members() ?? [:])
            let name = try block.required("name").string()
            return [.call(ToolCall(id: try block.required("id").string(), name: name, input: input))]
        case "tool_result": return try result(block)
        // What another server has run itself has been told in the text that follows.
        case let name where ["server_tool_use", "mcp_tool_use"].contains(name) || name.hasSuffix("_tool_result"):
            dropped.append(block.path)
            return []
        default:
            foreign.append(type.path)
            return []
        }
    }

    /// A result has only text, so that the images in it stand behind it.
    private mutating func result(_ block: RequestField) throws(DialectError) -> [Message.Part] {
        var content: [Message.Part] = []
        if let field = block["content"] { content = try parts(of: field) }
        var result = ToolResult(
            call: try block.required("tool_use_id").string(), content: Message(.tool, content).text)
        result.isError = try block["is_error"]?.bool() ?? false
        return [.result(result)] + content.filter { if case .attachment = $0 { true } else { false } }
    }

    /// Nil for one that stands elsewhere: nothing is fetched here, and only a server of this dialect does it itself.
    private mutating func attachment(_ block: RequestField) throws(DialectError) -> Message.Part? {
        let source = try block.required("source")
        let kind = try source.required("type")
        let type = try block.required("type").string()
        let name = try block["title"]?.string() ?? type
        switch try kind.string() {
        case "base64":
            let data = try source.required("data")
            guard let bytes = Base64.decode(try data.string()) else { throw data.problem("has to be base64") }
            let mediaType = try source.required("media_type")
            guard try Self.isMediaType(mediaType.string()) else {
                throw mediaType.problem("has to be a media type such as image/png")
            }
            return .attachment(Attachment(name: name, mediaType: try mediaType.string(), bytes: bytes))
        case "text":
            let bytes = Array(try source.required("data").string().utf8)
            return .attachment(Attachment(name: name, mediaType: "text/plain", bytes: bytes))
        default:
            foreign.append(kind.path)
            return nil
        }
    }

    private static func isMediaType(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { part in
                !part.isEmpty && !part.contains { $0.isWhitespace || $0 == ";" || $0 == "," }
            }
    }
}
