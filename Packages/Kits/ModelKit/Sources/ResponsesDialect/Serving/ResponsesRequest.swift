public import Capabilities
public import JSON
public import ModelKit

/// What a client of OpenAI's Responses asks of a server of ours.
///
/// It is read with patience: null is as good as missing, and what is unknown is left in `chat.extras`. What cannot be
/// understood is an error with a `refusal` that names the field.
public struct ResponsesRequest: Sendable, Hashable {
    public var chat: ChatRequest
    /// How the client wrote it.
    public let native: NativeRequest

    public init(parsing body: [UInt8]) throws(DialectError) {
        try self.init(root: RequestField.root(parsing: body))
    }

    /// Reads a body that was parsed before.
    public init(_ body: JSON) throws(DialectError) {
        try self.init(root: RequestField.root(body))
    }

    private init(root: RequestField) throws(DialectError) {
        if let earlier = root["previous_response_id"] {
            throw earlier.problem("cannot be used, as nothing is kept here: send the whole conversation")
        }
        if let background = root["background"], try background.bool() {
            throw background.problem("is not possible, as nothing is kept here: wait for the answer")
        }
        var native = try NativeRequest(.responses, in: root)
        chat = ChatRequest(model: try root["model"]?.string() ?? "", messages: [])
        if let words = root["instructions"] { chat.messages.append(Message(.system, try words.string())) }
        chat.messages += try RequestItems.messages(of: root.required("input"))
        for tool in try root["tools"]?.elements() ?? [] { chat.tools.append(try ToolDescription(responses: tool)) }
        chat.options.temperature = try root["temperature"]?.double()
        chat.options.topP = try root["top_p"]?.double()
        if let limit = root["max_output_tokens"] {
            guard try limit.int() > 0 else { throw limit.problem("has to be more than 0") }
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
    /// Nil for what only this dialect has a word for.
    fileprivate init?(responses choice: RequestField) throws(DialectError) {
        switch choice.value.string {
        case "auto": self = .auto
        case "none": self = .never
        case "required": self = .required
        case _?: throw choice.problem("has to be auto, none, required or a function")
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
            throw type.problem("has to be function: there are no tools of the server's own")
        }
        // What it does to the world is known only to the client, who runs it.
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
        default: throw type.problem("has to be text, json_object or json_schema")
        }
    }
}
