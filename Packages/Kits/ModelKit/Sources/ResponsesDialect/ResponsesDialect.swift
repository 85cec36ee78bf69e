public import Capabilities
public import JSON
public import ModelKit

/// OpenAI's Responses API. Nothing is stored at the server: the whole conversation is sent each time, with the model's
/// sealed reasoning.
///
///     let dialect = ResponsesDialect()
///     let body = try dialect.body(of: ChatRequest(model: "gpt-5", messages: [Message(.user, "Hello")]))
public struct ResponsesDialect: Dialect {
    public static let kind = RequestDialect.responses

    /// The options for the model that is asked.
    public let options: ResponsesOptions

    /// A dialect with these options; by default those that suit most models.
    public init(_ options: ResponsesOptions = ResponsesOptions()) {
        self.options = options
    }

    public func reader() -> ResponsesReader {
        ResponsesReader()
    }

    public func answer(in body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        var reader = reader()
        try reader.receiveWhole(body, into: &events)
        return try reader.finish(into: &events)
    }

    public func refusal(in body: [UInt8]) -> ServerRefusal? {
        ServerRefusal(inBody: body)
    }
}

extension ResponsesDialect {
    public func body(of request: ChatRequest) throws(DialectError) -> JSONObject {
        var body: JSONObject = ["model": .string(request.model), "store": false]
        let system = request.messages.filter { $0.role == .system }
        for message in system where message.parts.contains(where: { if case .text = $0 { false } else { true } }) {
            throw .untaken("parts other than text in messages with the role system")
        }
        let instructions = system.map(\.text).filter { !$0.isEmpty }
        if !instructions.isEmpty { body["instructions"] = .string(instructions.joined(separator: "\n\n")) }
        let input = try InputItems.json(request.messages.filter { $0.role != .system })
        guard !input.isEmpty else {
            throw DialectError(.unsupported, "the conversation contains nothing to answer; add a message")
        }
        body["input"] = .array(input)
        if request.streams { body["stream"] = true }
        if !request.tools.isEmpty {
            body["tools"] = .array(request.tools.map(Self.json))
            body["tool_choice"] = request.toolChoice.map(Self.json)
            body["parallel_tool_calls"] = request.parallelCalls.map(JSON.bool)
        }
        if let schema = request.schema { body["text"] = ["format": Self.json(schema)] }
        try write(request.options, into: &body)
        if options.returnsReasoning(request.model) { body["include"] = ["reasoning.encrypted_content"] }
        if request.mayCarryExtras(to: Self.kind) { for (key, value) in request.extras { body[key] = value } }
        return body
    }

    private func write(_ options: ModelOptions, into body: inout JSONObject) throws(DialectError) {
        if let temperature = options.temperature { body["temperature"] = .double(temperature) }
        if let share = options.topP { body["top_p"] = .double(share) }
        if let limit = options.maxTokens { body["max_output_tokens"] = .int(limit) }
        guard options.stop.isEmpty else { throw .untaken("stop sequences") }
        guard options.seed == nil else { throw .untaken("seeds") }
        if let effort = options.effort {
            var reasoning: JSONObject = ["effort": .string(effort.rawValue)]
            if self.options.wantsSummaries { reasoning["summary"] = "auto" }
            body["reasoning"] = .object(reasoning)
        }
    }

    private static func json(_ choice: ToolChoice) -> JSON {
        switch choice {
        case .auto: "auto"
        case .never: "none"
        case .required: "required"
        case .tool(let name): ["type": "function", "name": .string(name)]
        }
    }

    private static func json(_ tool: ToolDescription) -> JSON {
        // Without this member the server would be strict and refuse other schemas.
        [
            "type": "function", "name": .string(tool.name), "description": .string(tool.summary),
            "parameters": tool.input, "strict": false,
        ]
    }

    private static func json(_ schema: AnswerSchema) -> JSON {
        if schema == .anyObject { return ["type": "json_object"] }
        return [
            "type": "json_schema", "name": .string(schema.name), "schema": schema.schema,
            "strict": .bool(StrictSchema.admits(schema.schema)),
        ]
    }
}

extension ResponsesDialect {
    /// An error in the format that OpenAI's clients read. The status is separate.
    public static func envelope(_ refusal: ServerRefusal) -> JSONObject {
        let error: JSON = [
            "message": .string(refusal.message), "type": .string(refusal.type ?? "error"),
            "param": refusal.field.map(JSON.string) ?? .null, "code": refusal.code.map(JSON.string) ?? .null,
        ]
        return ["error": error]
    }
}

/// Options of requests that not all models of OpenAI support.
public struct ResponsesOptions: Sendable, Hashable {
    /// Whether the model's reasoning is requested, to be sent back to it; nil decides by its name, because other models
    /// refuse the option.
    public var returnsReasoning: Bool?
    /// Whether a reasoning model is asked for a summary of its reasoning, which not every account may use.
    public var wantsSummaries = true

    /// The defaults, which suit most models.
    public init() {}

    func returnsReasoning(_ model: String) -> Bool {
        if let returnsReasoning { return returnsReasoning }
        let name = model.split(separator: "/").last ?? ""
        if name.hasPrefix("gpt-") { return (name.dropFirst(4).first?.wholeNumberValue ?? 0) >= 5 }
        return name.first == "o" && name.dropFirst().first?.isNumber == true
    }

    /// The options for a retry after a server has refused something that this model or account lacks; nil if the
    /// refusal is about something else.
    public func adapted(to refusal: ServerRefusal) -> ResponsesOptions? {
        let words = [refusal.message, refusal.field ?? ""].joined(separator: " ").lowercased()
        var options = self
        if words.contains("summar"), wantsSummaries {
            options.wantsSummaries = false
        } else if words.contains("encrypted") || words.contains("include"), returnsReasoning != false {
            options.returnsReasoning = false
        } else {
            return nil
        }
        return options
    }
}
