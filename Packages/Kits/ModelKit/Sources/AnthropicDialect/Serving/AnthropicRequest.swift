public import Capabilities
public import JSON
public import ModelKit

/// What a client of Anthropic's API asks of a server of ours.
///
/// It is read with patience: null is as good as missing, `max_tokens` may be missing, and what is unknown is left in
/// `chat.extras`. What cannot be understood is an error with a `refusal` that names the field.
public struct AnthropicRequest: Sendable, Hashable {
    public var chat: ChatRequest
    /// How the client wrote it, which a server of this dialect is given.
    public private(set) var native: NativeRequest

    public init(parsing body: [UInt8]) throws(DialectError) {
        try self.init(root: RequestField.root(parsing: body))
    }

    /// Reads a body that was parsed before.
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
            if try type.string() != "json_schema" { throw type.problem("has to be json_schema") }
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
            // Tools of the server's own have a type.
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
        default: throw type.problem("has to be auto, any, tool or none")
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
            guard try limit.int() > 0 else { throw limit.problem("has to be more than 0") }
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
            // As Anthropic's own server does.
            guard try budget.int() >= 1024 else { throw budget.problem("has to be at least 1024") }
            thinking = .tokens(try budget.int())
        // A newer word is for the server that knows it.
        default: break
        }
    }

    private static func effort(_ root: RequestField) throws(DialectError) -> Effort? {
        if let word = try root.group("output_config")?["effort"]?.string() {
            // Anthropic knows words for more than much.
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
        // What it does to the world is known only to the client, who runs it.
        self.init(
            name: try tool.required("name").nonEmptyString(), summary: try tool["description"]?.string() ?? "",
            input: .object(try tool.required("input_schema").members()), effect: .writes)
    }
}
