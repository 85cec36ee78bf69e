public import Capabilities
public import JSON
public import ModelKit

/// OpenAI's Chat Completions, as spoken by OpenAI and the many compatible servers.
///
///     let dialect = OpenAIDialect(.openRouter)
///     let body = try dialect.body(of: ChatRequest(model: "a-model", messages: [Message(.user, "Hello")]))
public struct OpenAIDialect: Dialect {
    public static let kind = RequestDialect.openai

    /// The deviations of the server that is asked.
    public let quirks: OpenAIQuirks

    /// A dialect for a server with these deviations; by default OpenAI itself.
    public init(_ quirks: OpenAIQuirks = .openAI) {
        self.quirks = quirks
    }

    public func reader() -> OpenAIReader {
        OpenAIReader(quirks)
    }

    public func answer(in body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        var reader = reader()
        try reader.receiveWhole(body, into: &events)
        return try reader.finish(into: &events)
    }
}

extension OpenAIDialect {
    /// The models of a list, in the server's order: of OpenAI, OpenRouter, Ollama, vLLM, llama.cpp, and a gateway's
    /// models and capabilities. Other entries are skipped.
    public static func models(
        in body: [UInt8], provider: String
    ) throws(DialectError) -> [ModelDescription] {
        let list: JSON
        do {
            list = try JSON(parsing: body, reading: .stream)
        } catch {
            throw .malformed(body)
        }
        guard let entries = list.array ?? list["data"]?.array ?? list["models"]?.array else { throw .malformed(body) }
        return entries.compactMap { entry in
            let id = entry.filled ?? (entry["id"] ?? entry["model"] ?? entry["name"])?.filled
            return id.map { ModelDescription(id: $0, provider: provider, listed: entry) }
        }
    }
}

extension ModelDescription {
    fileprivate init(id: String, provider: String, listed entry: JSON) {
        self.init(id: id, provider: provider)
        let title = (entry["name"] ?? entry["display_name"])?.filled
        name = title == id ? nil : title
        let contextKeys = [
            "context_length", "max_model_len", "context_window", "max_context_length", "context_tokens",
            "max_input_tokens", "max_tokens", "maxTokens",
        ]
        contextTokens = contextKeys.lazy.compactMap { entry[$0].limit }.first ?? entry["meta"]?["n_ctx_train"].limit
        outputTokens = entry["top_provider"]?["max_completion_tokens"].limit ?? entry["max_output_tokens"].limit
        price = ModelPrice(listed: entry)
        abilities = Self.abilities(of: entry)
    }

    private static func abilities(of entry: JSON) -> Set<ModelAbility>? {
        var found: Set<ModelAbility> = []
        var isTold = false
        if let kinds = entry["architecture"]?["input_modalities"]?.array?.compactMap(\.string) {
            isTold = true
            if kinds.contains("image") { found.insert(.images) }
            if kinds.contains("file") { found.insert(.files) }
        }
        if let parameters = entry["supported_parameters"]?.array?.compactMap(\.string) {
            isTold = true
            if parameters.contains("tools") { found.insert(.tools) }
            if parameters.contains("reasoning") { found.insert(.reasoning) }
            if parameters.contains("structured_outputs") { found.insert(.schema) }
        }
        if let tools = (entry["supports_tools"] ?? entry["supportsTools"])?.bool {
            isTold = true
            if tools { found.insert(.tools) }
        }
        return isTold ? found : nil
    }
}

extension ModelPrice {
    /// Nil if the entry has no price. OpenRouter's prices are strings in dollars for one token; a gateway's are numbers
    /// for a thousand.
    fileprivate init?(listed entry: JSON) {
        let pricing = entry["pricing"]
        self.init(
            input: TokenPrice(pricing?["prompt"]) ?? TokenPrice(entry["input_cost_per_1k"], for: 1000),
            output: TokenPrice(pricing?["completion"]) ?? TokenPrice(entry["output_cost_per_1k"], for: 1000),
            cachedInput: TokenPrice(pricing?["input_cache_read"]),
            cacheWrite: TokenPrice(pricing?["input_cache_write"]))
        if self == ModelPrice() { return nil }
    }
}

extension TokenPrice {
    /// OpenRouter uses a negative price if it varies.
    fileprivate init?(_ dollars: JSON?, for tokens: Double = 1) {
        guard let dollars = dollars?.double ?? dollars?.string.flatMap(Double.init), dollars >= 0, dollars < 1000
        else { return nil }
        self.init(femtodollars: Int((dollars / tokens * 1e15).rounded()))
    }
}

extension JSON? {
    /// A limit. Some servers send zero for an unknown one.
    fileprivate var limit: Int? {
        tokens.flatMap { $0 > 0 ? $0 : nil }
    }
}

extension OpenAIDialect {
    /// Reads OpenAI's error envelope, those of other servers, plain text, and an error written as a stream.
    public func refusal(in body: [UInt8]) -> ServerRefusal? {
        ServerRefusal(inBody: body)
    }
}

extension OpenAIDialect {
    public func body(of request: ChatRequest) throws(DialectError) -> JSONObject {
        var body: JSONObject = [:]
        // A gateway chooses its own model.
        if !request.model.isEmpty { body["model"] = .string(request.model) }
        var messages = MessageWriter(quirks, model: request.model)
        body["messages"] = .array(try messages.write(request.messages))
        if quirks.foldsHistory, request.messages.count > 1 {
            // The same messages unfolded, for a gateway with memory. One without it ignores them.
            var plain = quirks
            plain.foldsHistory = false
            var conversation = MessageWriter(plain, model: request.model)
            body["conversation"] = .array(try conversation.write(request.messages))
        }
        if request.streams {
            body["stream"] = true
            if quirks.asksForUsage { body["stream_options"] = ["include_usage": true] }
        }
        if !request.tools.isEmpty {
            try require(.tools, "tools")
            body["tools"] = .array(request.tools.map(Self.json))
            body["tool_choice"] = request.toolChoice.map(Self.json)
            body["parallel_tool_calls"] = request.parallelCalls.map(JSON.bool)
        }
        try write(request.options, for: request.model, into: &body)
        if let schema = request.schema {
            try require(.schema, "answer schemas")
            // Servers without schemas know this word.
            body["response_format"] =
                schema == .anyObject
                ? ["type": "json_object"] : ["type": "json_schema", "json_schema": Self.json(schema)]
        }
        if request.mayCarryExtras(to: Self.kind) { for (key, value) in request.extras { body[key] = value } }
        return body
    }

    private func write(
        _ options: ModelOptions, for model: String, into body: inout JSONObject
    ) throws(DialectError) {
        if let temperature = options.temperature { body["temperature"] = .double(temperature) }
        if let share = options.topP { body["top_p"] = .double(share) }
        if let limit = options.maxTokens { body[quirks.limitName(for: model)] = .int(limit) }
        if !options.stop.isEmpty { body["stop"] = .array(options.stop.map(JSON.string)) }
        if let seed = options.seed {
            try require(.seed, "seeds")
            body["seed"] = .int(seed)
        }
        if let effort = options.effort {
            try require(.effort, "reasoning efforts")
            let word = JSON.string(effort.rawValue)
            if quirks.nestsEffort { body["reasoning"] = ["effort": word] } else { body["reasoning_effort"] = word }
        }
    }

    private func require(_ feature: OpenAIQuirks.Feature, _ name: String) throws(DialectError) {
        if quirks.lacks.contains(feature) { throw .untaken(name) }
    }

    private static func json(_ choice: ToolChoice) -> JSON {
        switch choice {
        case .auto: "auto"
        case .never: "none"
        case .required: "required"
        case .tool(let name): ["type": "function", "function": ["name": .string(name)]]
        }
    }

    private static func json(_ tool: ToolDescription) -> JSON {
        let function: JSON = [
            "name": .string(tool.name), "description": .string(tool.summary), "parameters": tool.input,
        ]
        return ["type": "function", "function": function]
    }

    private static func json(_ schema: AnswerSchema) -> JSON {
        ["name": .string(schema.name), "schema": schema.schema, "strict": .bool(StrictSchema.admits(schema.schema))]
    }
}

extension OpenAIDialect {
    /// An error in the format that OpenAI's clients read. The status is separate.
    public static func envelope(_ refusal: ServerRefusal) -> JSONObject {
        let error: JSON = [
            "message": .string(refusal.message), "type": .string(refusal.type ?? "error"),
            "param": refusal.field.map(JSON.string) ?? .null, "code": refusal.code.map(JSON.string) ?? .null,
        ]
        return ["error": error]
    }

    /// A list of models in the format that OpenAI's clients read, with members that some servers add.
    public static func modelList(_ models: [ModelDescription], created: Int) -> JSONObject {
        let entries = models.map { model -> JSON in
            var entry: JSONObject = [
                "id": .string(model.id), "object": "model", "created": .int(created),
                "owned_by": .string(model.provider),
            ]
            entry["name"] = model.name.map(JSON.string)
            entry["context_length"] = model.contextTokens.map(JSON.int)
            return .object(entry)
        }
        return ["object": "list", "data": .array(entries)]
    }
}
