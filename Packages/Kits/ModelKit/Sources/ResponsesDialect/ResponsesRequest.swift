public import Capabilities
public import JSON
public import ModelKit

/// A request of a client of OpenAI's Responses API to our server.
///
/// Reading is tolerant: null is the same as missing, and unknown members are kept in `chat.extras`. An invalid request
/// is an error with a `refusal` that names the field.
public struct ResponsesRequest: Sendable, Hashable {
    /// The request in the common form, for a server of any dialect.
    public var chat: ChatRequest
    /// The client's own form.
    public let native: NativeRequest

    /// Parses the body of a request.
    public init(parsing body: [UInt8]) throws(DialectError) {
        try self.init(root: RequestField.root(parsing: body))
    }

    /// Reads a parsed body.
    public init(_ body: JSON) throws(DialectError) {
        try self.init(root: RequestField.root(body))
    }

    private init(root: RequestField) throws(DialectError) {
        if let earlier = root["previous_response_id"] {
            throw earlier.problem("is not supported, because nothing is stored here: send the whole conversation")
        }
        if let background = root["background"], try background.bool() {
            throw background.problem("is not supported, because nothing is stored here: wait for the answer")
        }
        var native = try NativeRequest(.responses, in: root)
        chat = ChatRequest(model: try root["model"]?.string() ?? "", messages: [])
        if let words = root["instructions"] { chat.messages.append(Message(.system, try words.string())) }
        chat.messages += try RequestItems.messages(of: root.required("input"))
        for tool in try root["tools"]?.elements() ?? [] { chat.tools.append(try ToolDescription(responses: tool)) }
        chat.options.temperature = try root["temperature"]?.double()
        chat.options.topP = try root["top_p"]?.double()
        if let limit = root["max_output_tokens"] {
            guard try limit.int() > 0 else { throw limit.problem("must be more than 0") }
            chat.options.maxTokens = try limit.int()
        }
        if let word = try root.group("reasoning")?["effort"]?.string() {
            chat.options.effort =
                ModelOptions.Effort(rawValue: word) ?? (["xhigh", "max"].contains(word) ? .high : nil)
            if word == "none" { chat.options.thinking = .off }
        }
        if let choice = root["tool_choice"] {
            chat.toolChoice = try ToolChoice(responses: choice)
            if chat.toolChoice == nil {
                native.foreign.append("tool_choice")
                chat.extras["tool_choice"] = choice.value
            }
        }
        chat.parallelCalls = try root["parallel_tool_calls"]?.bool()
        self.native = native
        chat.schema = try AnswerSchema(responses: root.group("text")?["format"])
        chat.streams = try root["stream"]?.bool() ?? false
        for (key, value) in try root.members() where !Self.known.contains(key) && !value.isNull {
            chat.extras.append(key, value)
        }
    }

    private static let known: Set<String> = [
        "model", "input", "instructions", "tools", "temperature", "top_p", "max_output_tokens", "reasoning", "text",
        "stream", "store", "include", "tool_choice", "parallel_tool_calls", "background",
    ]
}

extension ToolChoice {
    /// Nil for a word that only this dialect has.
    fileprivate init?(responses choice: RequestField) throws(DialectError) {
        switch choice.value.string {
        case "auto": self = .auto
        case "none": self = .never
        case "required": self = .required
        case _?: throw choice.problem("must be auto, none, required or a function")
        case nil:
            guard try choice.required("type").string() == "function" else { return nil }
            self = .tool(try choice.required("name").nonEmptyString())
        }
    }
}

extension ToolDescription {
    fileprivate init(responses tool: RequestField) throws(DialectError) {
        let type = try tool.required("type")
        guard try type.string() == "function" else {
            throw type.problem("must be function: the server has no tools of its own")
        }
        // The effect of a tool is only known to the client, which runs it.
        self.init(
            name: try tool.required("name").nonEmptyString(), summary: try tool["description"]?.string() ?? "",
            input: .object(try tool["parameters"]?.members() ?? ["type": "object", "properties": [:]]),
            effect: .writes)
    }
}

extension AnswerSchema {
    fileprivate init?(responses format: RequestField?) throws(DialectError) {
        guard let format else { return nil }
        let type = try format.required("type")
        switch try type.string() {
        case "text": return nil
        case "json_object": self = .anyObject
        case "json_schema":
            let name = try format["name"]?.string() ?? "answer"
            self.init(name: name, schema: .object(try format.required("schema").members()))
        default: throw type.problem("must be text, json_object or json_schema")
        }
    }
}

/// Reads the input of a request: a text, or items. Successive items of one side become one message.
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
        // A message may have no type.
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
            let files = content.filter { if case .attachment(let file) = $0 { !file.isImage } else { false } }
            return Message(.tool, [.result(ToolResult(call: call, content: content))] + files)
        case "reasoning": return Message(.assistant, [.reasoning(try reasoning(item))])
        default: throw type.problem("must be message, function_call, function_call_output or reasoning")
        }
    }

    private static func spoken(_ item: RequestField) throws(DialectError) -> Message {
        let role = try item.required("role")
        let parts = try parts(of: item.required("content"))
        switch try role.string() {
        case "system", "developer": return Message(.system, parts)
        case "user": return Message(.user, parts)
        case "assistant": return Message(.assistant, parts)
        default: throw role.problem("must be system, developer, user or assistant")
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
        default: throw type.problem("must be input_text, input_image, input_file or output_text")
        }
    }

    private static func attachment(_ uri: RequestField, name: String) throws(DialectError) -> Attachment {
        guard let (type, bytes) = DataURI.decode(try uri.string()) else {
            throw uri.problem("must be a data URI with base64: nothing is fetched from elsewhere")
        }
        return Attachment(name: name, mediaType: type, bytes: bytes)
    }
}
