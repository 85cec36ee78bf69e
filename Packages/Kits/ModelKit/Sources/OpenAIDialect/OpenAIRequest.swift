public import Capabilities
public import JSON
public import ModelKit

/// A request of a client of OpenAI's API to our server.
///
/// Reading is tolerant: null is the same as missing, both names of the token limit are accepted, and unknown members
/// are kept in `chat.extras`. An invalid request is an error with a `refusal` that names the field.
public struct OpenAIRequest: Sendable, Hashable {
    /// The request in the common form, for a server of any dialect.
    public var chat: ChatRequest
    /// The client's own form.
    public let native: NativeRequest
    /// Whether a stream ends with the usage.
    public var wantsUsage: Bool

    /// Parses the body of a request.
    public init(parsing body: [UInt8]) throws(DialectError) {
        try self.init(root: RequestField.root(parsing: body))
    }

    /// Reads a parsed body.
    public init(_ body: JSON) throws(DialectError) {
        try self.init(root: RequestField.root(body))
    }

    private init(root body: RequestField) throws(DialectError) {
        let root = try Self.unfolded(body)
        var native = try NativeRequest(.openai, in: root)
        chat = ChatRequest(model: try root["model"]?.string() ?? "", messages: try Self.messages(of: root))
        for tool in try root["tools"]?.elements() ?? [] { chat.tools.append(try ToolDescription(openAI: tool)) }
        chat.options = try ModelOptions(openAI: root)
        chat.schema = try AnswerSchema(openAI: root["response_format"])
        chat.streams = try root["stream"]?.bool() ?? false
        wantsUsage = try root.group("stream_options")?["include_usage"]?.bool() ?? false
        if let count = root["n"], try count.int() != 1 { throw count.problem("must be 1: there is one answer") }
        for name in ["logprobs", "top_logprobs"] where native.members.contains(name) && root[name]?.value != .int(0) {
            throw RequestField.problem(
                "\(name) is not available here; leave it out", name, code: "unsupported_parameter")
        }
        for (key, value) in try root.members() where !Self.known.contains(key) && !value.isNull {
            chat.extras.append(key, value)
        }
        if let choice = root["tool_choice"] {
            chat.toolChoice = try ToolChoice(openAI: choice)
            if chat.toolChoice == nil {
                native.foreign.append("tool_choice")
                chat.extras["tool_choice"] = choice.value
            }
        }
        chat.parallelCalls = try root["parallel_tool_calls"]?.bool()
        // An unknown effort is kept unchanged; other dialects get the nearest one.
        if chat.options.effort == nil, let effort = try root["reasoning_effort"]?.string() {
            chat.extras["reasoning_effort"] = .string(effort)
            if ["xhigh", "max"].contains(effort) { chat.options.effort = .high }
            if effort == "none" { chat.options.thinking = .off }
        }
        self.native = native
    }

    private static func messages(of root: RequestField) throws(DialectError) -> [Message] {
        let field = try root.required("messages")
        var messages: [Message] = []
        for message in try field.elements() { messages.append(try Message(openAI: message)) }
        guard !messages.isEmpty else { throw field.problem("has no message", code: "missing_messages") }
        return messages
    }

    /// The request with the conversation instead of the messages: a client that folds the messages for gateways without
    /// memory sends it unfolded there.
    private static func unfolded(_ root: RequestField) throws(DialectError) -> RequestField {
        guard let whole = root["conversation"] else { return root }
        // The messages are not used, but are checked as in every request.
        _ = try messages(of: root)
        var members = try root.members()
        members["messages"] = whole.value
        members["conversation"] = Optional<JSON>.none
        return RequestField(value: .object(members), path: root.path)
    }

    private static let known: Set<String> = [
        "model", "messages", "conversation", "tools", "response_format", "stream", "stream_options", "n",
        "temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed", "reasoning_effort",
        "tool_choice", "parallel_tool_calls", "logprobs", "top_logprobs",
    ]
}

extension ToolChoice {
    /// Nil for a word that only this dialect has.
    fileprivate init?(openAI choice: RequestField) throws(DialectError) {
        switch choice.value.string {
        case "auto": self = .auto
        case "none": self = .never
        case "required": self = .required
        case _?: throw choice.problem("must be auto, none, required or a function")
        case nil:
            guard try choice.required("type").string() == "function" else { return nil }
            self = .tool(try choice.required("function").required("name").nonEmptyString())
        }
    }
}

extension ModelOptions {
    fileprivate init(openAI root: RequestField) throws(DialectError) {
        self.init()
        temperature = try root["temperature"]?.double()
        topP = try root["top_p"]?.double()
        // The newer name takes precedence.
        for name in ["max_tokens", "max_completion_tokens"] {
            guard let limit = root[name] else { continue }
            guard try limit.int() > 0 else { throw limit.problem("must be more than 0") }
            maxTokens = try limit.int()
        }
        if let words = root["stop"] {
            if let word = words.value.string {
                stop = [word]
            } else {
                for word in try words.elements() { stop.append(try word.string()) }
            }
        }
        seed = try root["seed"]?.int()
        if let word = root["reasoning_effort"] { effort = Effort(rawValue: try word.string()) }
    }
}

extension AnswerSchema {
    fileprivate init?(openAI format: RequestField?) throws(DialectError) {
        guard let format else { return nil }
        let type = try format.required("type")
        switch try type.string() {
        case "text": return nil
        case "json_object": self = .anyObject
        case "json_schema":
            let schema = try format.required("json_schema")
            self.init(
                name: try schema["name"]?.string() ?? "answer",
                schema: .object(try schema.required("schema").members()))
        default: throw type.problem("must be text, json_object or json_schema")
        }
    }
}

extension ToolDescription {
    fileprivate init(openAI tool: RequestField) throws(DialectError) {
        if let type = tool["type"], try type.string() != "function" { throw type.problem("must be function") }
        let function = try tool.required("function")
        // The effect of a tool is only known to the client, which runs it.
        self.init(
            name: try function.required("name").nonEmptyString(), summary: try function["description"]?.string() ?? "",
            input: .object(try function["parameters"]?.members() ?? ["type": "object", "properties": [:]]),
            effect: .writes)
    }
}

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
            self.init(.tool, [.result(ToolResult(call: call, content: content))])
        default: throw role.problem("must be system, developer, user, assistant or tool")
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
            // The model wrote it, so it is not the client's fault.
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
        default: throw type.problem("must be text, image_url or file")
        }
    }

    private static func attachment(_ uri: RequestField, name: String) throws(DialectError) -> Attachment {
        guard let (type, bytes) = DataURI.decode(try uri.string()) else {
            throw uri.problem("must be a data URI with base64: nothing is fetched from elsewhere")
        }
        return Attachment(name: name, mediaType: type, bytes: bytes)
    }
}
