public import Capabilities
public import JSON
public import ModelKit

/// Anthropic's Messages API, as spoken by Anthropic and compatible proxies.
///
///     let dialect = AnthropicDialect()
///     let body = try dialect.body(of: ChatRequest(model: "claude-sonnet-4-5", messages: [Message(.user, "Hello")]))
public struct AnthropicDialect: Dialect {
    public static let kind = RequestDialect.anthropic
    /// The value of the header `anthropic-version`.
    public static let version = "2023-06-01"

    /// The options for the model that is asked.
    public let options: AnthropicOptions

    /// A dialect with these options; by default those that suit most models.
    public init(_ options: AnthropicOptions = AnthropicOptions()) {
        self.options = options
    }

    public func reader() -> AnthropicReader {
        AnthropicReader()
    }

    /// A proxy may answer so although a stream was requested.
    public func answer(in body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        var reader = reader()
        try reader.receiveWhole(body, into: &events)
        return try reader.finish(into: &events)
    }

    public func refusal(in body: [UInt8]) -> ServerRefusal? {
        ServerRefusal(inBody: body)
    }
}

/// A page of a server's models, and the position of the next page.
public struct ModelPage: Sendable, Hashable {
    /// The models of the page, in the server's order.
    public var models: [ModelDescription]
    /// The value of `after_id` for the next page; nil on the last page.
    public var next: String?

    /// - Parameter next: the value of `after_id` for the next page; nil for the last page.
    public init(models: [ModelDescription], next: String? = nil) {
        self.models = models
        self.next = next
    }
}

extension AnthropicDialect {
    /// The models of a page, in the server's order. Other entries and retired models are skipped.
    public static func models(in body: [UInt8], provider: String) throws(DialectError) -> ModelPage {
        guard let list = try AnswerObject.read(body), let entries = list["data"]?.array else { throw .malformed(body) }
        let models = entries.compactMap { entry -> ModelDescription? in
            guard let id = entry["id"]?.filled, entry["lifecycle"] != "retired" else { return nil }
            return ModelDescription(
                id: id, provider: provider, name: entry["display_name"]?.filled,
                contextTokens: limit(entry["max_input_tokens"]), outputTokens: limit(entry["max_tokens"]),
                abilities: abilities(entry["capabilities"]))
        }
        let hasMore = list["has_more"]?.bool ?? false
        return ModelPage(models: models, next: hasMore ? list["last_id"]?.filled : nil)
    }

    /// Some servers send zero for an unknown limit.
    private static func limit(_ value: JSON?) -> Int? {
        value.tokens.flatMap { $0 > 0 ? $0 : nil }
    }

    private static func abilities(_ capabilities: JSON?) -> Set<ModelAbility>? {
        guard let capabilities, capabilities.object != nil else { return nil }
        // Every model of Anthropic can use tools.
        var abilities: Set<ModelAbility> = [.tools]
        let names: [(String, ModelAbility)] = [
            ("image_input", .images), ("pdf_input", .files), ("thinking", .reasoning), ("structured_outputs", .schema),
        ]
        for (name, ability) in names where capabilities[name]?["supported"]?.bool == true { abilities.insert(ability) }
        return abilities
    }

    /// A list of models in the format that Anthropic's clients read.
    public static func modelList(_ models: [ModelDescription]) -> JSONObject {
        let entries = models.map { model -> JSON in
            var entry: JSONObject = [
                "type": "model", "id": .string(model.id), "display_name": .string(model.name ?? model.id),
                // Anthropic uses the beginning of Unix time for an unknown date.
                "created_at": "1970-01-01T00:00:00Z", "lifecycle": "active",
            ]
            entry["max_input_tokens"] = model.contextTokens.map(JSON.int)
            entry["max_tokens"] = model.outputTokens.map(JSON.int)
            return .object(entry)
        }
        return [
            "data": .array(entries), "has_more": false, "first_id": models.first.map { .string($0.id) } ?? .null,
            "last_id": models.last.map { .string($0.id) } ?? .null,
        ]
    }
}

extension AnthropicDialect {
    public func body(of request: ChatRequest) throws(DialectError) -> JSONObject {
        if let body = request.native?.body, request.native?.dialect == Self.kind, !body.isEmpty {
            return passed(body, of: request)
        }
        let limit = request.options.maxTokens ?? options.maxTokens ?? ClaudeModel(request.model).maxTokens
        var body: JSONObject = ["model": .string(request.model), "max_tokens": .int(limit)]
        var conversation = try Conversation(request.messages)
        if options.marksCache { conversation.markCache() }
        if !conversation.system.isEmpty { body["system"] = .array(conversation.system) }
        guard !conversation.turns.isEmpty else {
            throw DialectError(.unsupported, "the conversation contains nothing to answer; add a message")
        }
        body["messages"] = .array(conversation.turns.map(\.json))
        if request.streams { body["stream"] = true }
        try writeTools(of: request, into: &body)
        try write(request.options, into: &body)
        try writeEffort(of: request, within: limit, into: &body)
        if request.mayCarryExtras(to: Self.kind) { for (key, value) in request.extras { body[key] = value } }
        return body
    }

    /// A native request of a client has its own cache marks, budgets and betas.
    private func passed(_ body: JSONObject, of request: ChatRequest) -> JSONObject {
        var body = body
        let limit = request.options.maxTokens ?? options.maxTokens ?? ClaudeModel(request.model).maxTokens
        body["model"] = .string(request.model)
        body["max_tokens"] = .int(limit)
        body["stream"] = request.streams ? true : nil
        return body
    }

    private func write(_ options: ModelOptions, into body: inout JSONObject) throws(DialectError) {
        if let temperature = options.temperature {
            guard options.effort == nil, options.thinking?.isOn != true else {
                throw .untaken("temperatures together with reasoning")
            }
            guard temperature <= 1 else { throw .untaken("temperatures above 1") }
            body["temperature"] = .double(temperature)
        }
        if let share = options.topP { body["top_p"] = .double(share) }
        if !options.stop.isEmpty { body["stop_sequences"] = .array(options.stop.map(JSON.string)) }
        guard options.seed == nil else { throw .untaken("seeds") }
    }

    // MARK: - Tools and schemas

    private func writeTools(of request: ChatRequest, into body: inout JSONObject) throws(DialectError) {
        var tools = request.tools.map { tool -> JSONObject in
            ["name": .string(tool.name), "description": .string(tool.summary), "input_schema": tool.input]
        }
        if let schema = request.schema {
            // A reasoning model cannot be forced to call a tool.
            if options.schemaWay == .format || request.options.effort != nil || request.options.thinking?.isOn == true {
                body["output_config"] = ["format": ["type": "json_schema", "schema": schema.schema]]
            } else {
                guard !request.tools.contains(where: { $0.name == AnswerTool.name }) else {
                    throw .untaken("tools named \(AnswerTool.name) together with an answer schema")
                }
                // With other tools, it may call those first.
                body["tool_choice"] =
                    tools.isEmpty || request.toolChoice == .never
                    ? ["type": "tool", "name": .string(AnswerTool.name)] : ["type": "any"]
                tools.append(AnswerTool.json(schema))
            }
        }
        guard !tools.isEmpty else { return }
        writeChoice(of: request, into: &body)
        if options.marksCache { tools[tools.count - 1].markCache() }
        body["tools"] = .array(tools.map(JSON.object))
    }

    private func writeChoice(of request: ChatRequest, into body: inout JSONObject) {
        guard !request.tools.isEmpty else { return }
        var choice = body["tool_choice"]?.object
        switch request.toolChoice {
        // With a schema, the model calls its tool after the other tools.
        case .auto, .never, .required: choice = choice ?? request.toolChoice.map { ["type": .string($0.anthropicWord)] }
        case .tool(let name): choice = ["type": "tool", "name": .string(name)]
        case nil: break
        }
        if let parallel = request.parallelCalls, request.toolChoice != .never {
            if choice != nil || !parallel {
                choice = choice ?? ["type": "auto"]
                choice?["disable_parallel_tool_use"] = .bool(!parallel)
            }
        }
        if let choice { body["tool_choice"] = .object(choice) }
    }

    // MARK: - Thinking

    private func writeEffort(
        of request: ChatRequest, within limit: Int, into body: inout JSONObject
    ) throws(DialectError) {
        switch request.options.thinking {
        case .off: body["thinking"] = ["type": "disabled"]
        case .adaptive: body["thinking"] = ["type": "adaptive", "display": "summarized"]
        case .tokens(let budget): body["thinking"] = ["type": "enabled", "budget_tokens": .int(budget)]
        case nil: break
        }
        guard request.options.thinking == nil, let effort = request.options.effort else { return }
        switch options.thinking ?? ClaudeModel(request.model).thinking {
        case .none: throw .untaken("reasoning efforts for \(PlainText.excerpt(request.model))")
        case .adaptive:
            // Newer models do not show their reasoning unless requested.
            body["thinking"] = ["type": "adaptive", "display": "summarized"]
            var output = body["output_config"]?.object ?? [:]
            output["effort"] = .string(effort == .minimal ? "low" : effort.rawValue)
            body["output_config"] = .object(output)
        case .budget:
            // Reasoning counts towards the answer, so half of the limit is left for the rest.
            let budget = min(Self.budget(for: effort), limit / 2)
            guard budget >= 1024 else {
                throw DialectError(
                    .unsupported,
                    "a limit of \(limit) tokens leaves no room for reasoning; allow 2048 or set no effort")
            }
            body["thinking"] = ["type": "enabled", "budget_tokens": .int(budget)]
        }
    }

    private static func budget(for effort: ModelOptions.Effort) -> Int {
        switch effort {
        case .minimal: 1024
        case .low: 4096
        case .medium: 10_240
        case .high: 24_576
        }
    }
}

extension ToolChoice {
    fileprivate var anthropicWord: String {
        switch self {
        case .auto: "auto"
        case .never: "none"
        case .required: "any"
        case .tool: "tool"
        }
    }
}

extension ModelOptions.Thinking {
    fileprivate var isOn: Bool { self != .off }
}

extension AnthropicDialect {
    /// An error in the format that Anthropic's clients read, in a stream or as the whole body. The status is separate.
    public static func envelope(_ refusal: ServerRefusal, requestID: String? = nil) -> JSONObject {
        let error: JSON = ["type": .string(refusal.type ?? "api_error"), "message": .string(refusal.message)]
        return ["type": "error", "error": error, "request_id": requestID.map(JSON.string) ?? .null]
    }

    /// The type of an error for a status.
    public static func errorType(status: Int) -> String {
        switch status {
        case 400, 422: "invalid_request_error"
        case 401: "authentication_error"
        case 402: "billing_error"
        case 403: "permission_error"
        case 404: "not_found_error"
        case 413: "request_too_large"
        case 429: "rate_limit_error"
        case 504: "timeout_error"
        case 503, 529: "overloaded_error"
        case 400..<500: "invalid_request_error"
        default: "api_error"
        }
    }
}

/// The tool through which an answer follows a schema. The reader recognises its name and turns its input into text, so
/// the tool is never visible.
enum AnswerTool {
    static let name = "structured_answer"

    static func json(_ schema: AnswerSchema) -> JSONObject {
        let summary = "Give your whole answer by calling this tool: \(schema.name)"
        return ["name": .string(name), "description": .string(summary), "input_schema": schema.schema]
    }
}
