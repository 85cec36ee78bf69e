public import Capabilities
public import JSON
public import ModelKit

/// A request of a client of Anthropic's API to our server.
///
/// Reading is tolerant: null is the same as missing, `max_tokens` may be missing, and unknown members are kept in
/// `chat.extras`. An invalid request is an error with a `refusal` that names the field.
public struct AnthropicRequest: Sendable, Hashable {
    /// The request in the common form, for a server of any dialect.
    public var chat: ChatRequest
    /// The client's own form, for a server of this dialect.
    public private(set) var native: NativeRequest

    /// Parses the body of a request.
    public init(parsing body: [UInt8]) throws(DialectError) {
        try self.init(root: RequestField.root(parsing: body))
    }

    /// Reads a parsed body.
    public init(_ body: JSON) throws(DialectError) {
        try self.init(root: RequestField.root(body))
    }

    private init(root: RequestField) throws(DialectError) {
        native = try NativeRequest(.anthropic, in: root)
        native.body = try root.members()
        for own in TranslationTable.ownMembers { native.body[own] = nil }
        var blocks = RequestBlocks()
        let messages = try root.required("messages")
        chat = ChatRequest(model: try root["model"]?.string() ?? "", messages: [])
        if let system = root["system"] {
            let text = try RequestBlocks.text(of: system)
            if !text.isEmpty { chat.messages.append(Message(.system, text)) }
        }
        for message in try messages.elements() { chat.messages += try blocks.messages(of: message) }
        guard try !messages.elements().isEmpty else { throw messages.problem("has no message") }
        native.foreign = blocks.foreign
        native.dropped = blocks.dropped
        try readTools(root)
        try readChoice(root["tool_choice"])
        chat.options = try ModelOptions(anthropic: root)
        if let format = try root.group("output_config")?["format"] {
            let type = try format.required("type")
            if try type.string() != "json_schema" { throw type.problem("must be json_schema") }
            let schema = JSON.object(try format.required("schema").members())
            chat.schema = AnswerSchema(name: "answer", schema: schema)
        }
        chat.streams = try root["stream"]?.bool() ?? false
        for (key, value) in try root.members() where !Self.known.contains(key) && !value.isNull {
            chat.extras.append(key, value)
        }
    }

    private mutating func readTools(_ root: RequestField) throws(DialectError) {
        for tool in try root["tools"]?.elements() ?? [] {
            // Tools of the server have a type.
            if let type = tool["type"], try type.string() != "custom" {
                native.foreign.append(type.path)
            } else {
                chat.tools.append(try ToolDescription(anthropic: tool))
            }
        }
    }

    private mutating func readChoice(_ choice: RequestField?) throws(DialectError) {
        guard let choice else { return }
        let type = try choice.required("type")
        switch try type.string() {
        case "auto": chat.toolChoice = .auto
        case "any": chat.toolChoice = .required
        case "none": chat.toolChoice = .never
        case "tool": chat.toolChoice = .tool(try choice.required("name").nonEmptyString())
        default: throw type.problem("must be auto, any, tool or none")
        }
        chat.parallelCalls = try choice["disable_parallel_tool_use"]?.bool() == true ? false : nil
    }

    private static let known: Set<String> = [
        "model", "messages", "system", "tools", "tool_choice", "output_config", "thinking", "stream", "max_tokens",
        "temperature", "top_p", "stop_sequences",
    ]
}

extension ModelOptions {
    fileprivate init(anthropic root: RequestField) throws(DialectError) {
        self.init()
        temperature = try root["temperature"]?.double()
        topP = try root["top_p"]?.double()
        if let limit = root["max_tokens"] {
            guard try limit.int() > 0 else { throw limit.problem("must be more than 0") }
            maxTokens = try limit.int()
        }
        for word in try root["stop_sequences"]?.elements() ?? [] { stop.append(try word.string()) }
        effort = try Self.effort(root)
        guard let kind = root["thinking"] else { return }
        switch try kind.required("type").string() {
        case "disabled": thinking = .off
        case "adaptive": thinking = .adaptive
        case "enabled":
            let budget = try kind.required("budget_tokens")
            // Anthropic's own server does the same.
            guard try budget.int() >= 1024 else { throw budget.problem("must be at least 1024") }
            thinking = .tokens(try budget.int())
        // A newer word is kept for a server that knows it.
        default: break
        }
    }

    private static func effort(_ root: RequestField) throws(DialectError) -> Effort? {
        if let word = try root.group("output_config")?["effort"]?.string() {
            // Anthropic has words above high.
            return Effort(rawValue: word) ?? (["xhigh", "max"].contains(word) ? .high : nil)
        }
        guard let thinking = root["thinking"], try thinking.required("type").string() == "enabled" else { return nil }
        switch try thinking.required("budget_tokens").int() {
        case ..<2048: return .minimal
        case ..<8192: return .low
        case ..<16_384: return .medium
        default: return .high
        }
    }
}

extension ToolDescription {
    fileprivate init(anthropic tool: RequestField) throws(DialectError) {
        // The effect of a tool is only known to the client, which runs it.
        self.init(
            name: try tool.required("name").nonEmptyString(), summary: try tool["description"]?.string() ?? "",
            input: .object(try tool.required("input_schema").members()), effect: .writes)
    }
}

/// Reads the messages of a request.
struct RequestBlocks {
    /// Places with content that only servers of this dialect understand.
    private(set) var foreign: [String] = []
    /// Places with content that servers of other dialects do not get. The client is told about them.
    private(set) var dropped: [String] = []

    /// The content of one message. The results of calls become a separate message, because tools and not the user wrote
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
        default: throw role.problem("must be user or assistant")
        }
    }

    /// Content that may only be text.
    static func text(of content: RequestField) throws(DialectError) -> String {
        if let text = content.value.string { return text }
        guard content.value.array != nil else { throw content.wrong("a string or an array of blocks") }
        var texts: [String] = []
        for block in try content.elements() {
            let type = try block.required("type")
            guard try type.string() == "text" else { throw type.problem("must be text") }
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
        // The following text already reports what another server has run.
        case let name where ["server_tool_use", "mcp_tool_use"].contains(name) || name.hasSuffix("_tool_result"):
            dropped.append(block.path)
            return []
        default:
            foreign.append(type.path)
            return []
        }
    }

    /// A result has only texts and images, so other files follow it.
    private mutating func result(_ block: RequestField) throws(DialectError) -> [Message.Part] {
        var content: [Message.Part] = []
        if let field = block["content"] { content = try parts(of: field) }
        var result = ToolResult(call: try block.required("tool_use_id").string(), content: content)
        result.isError = try block["is_error"]?.bool() ?? false
        return [.result(result)]
            + content.filter { if case .attachment(let file) = $0 { !file.isImage } else { false } }
    }

    /// Nil for a source elsewhere: nothing is fetched here, and only a server of this dialect does it itself.
    private mutating func attachment(_ block: RequestField) throws(DialectError) -> Message.Part? {
        let source = try block.required("source")
        let kind = try source.required("type")
        let type = try block.required("type").string()
        let name = try block["title"]?.string() ?? type
        switch try kind.string() {
        case "base64":
            let data = try source.required("data")
            guard let bytes = Base64.decode(try data.string()) else { throw data.problem("must be base64") }
            let mediaType = try source.required("media_type")
            guard try Self.isMediaType(mediaType.string()) else {
                throw mediaType.problem("must be a media type such as image/png")
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
